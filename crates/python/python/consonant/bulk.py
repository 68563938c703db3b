"""What Spark, Ray and their like have in common: record batches in, record batches out, and rows that cannot be annotated."""

from __future__ import annotations

from typing import Any

from ._consonant import __version__
from .errors import DataError, UsageError
from .nlp import Nlp

#: Whose words the columns are; stands in the metadata of what is written.
METADATA = {"consonant": __version__}
#: A row with more bytes of text is refused: one worker would be at it for minutes while the others wait.
MAX_BYTES = 10_000_000


def check(on_error: str, max_bytes: int = MAX_BYTES) -> None:
    """Refuses what is no way to treat errors, and no limit."""
    if max_bytes < 1:
        raise UsageError(f"max_bytes={max_bytes} would refuse every row; give a number from 1")
    if on_error not in ("column", "fail"):
        raise UsageError(f"there is no on_error={on_error!r}; say 'column' (the error stands beside its row) or 'fail'")


def annotate(nlp: Nlp, batch: Any, text: str, on_error: str, max_bytes: int = MAX_BYTES) -> Any:
    """A record batch of pyarrow with the columns ``sentences`` and ``entities``; with ``on_error="column"`` also ``error``, null where all is well.

    >>> import consonant, pyarrow
    >>> rows = pyarrow.record_batch({"text": pyarrow.array([b"Ann left.", b"\\xff"], pyarrow.binary())})
    >>> out = annotate(consonant.load(layers=[]), rows, "text", "column")
    >>> out.column("error").to_pylist()
    [None, 'row 1 of the batch: the text is not UTF-8 (byte 0)']
    """
    import pyarrow

    errors: dict[int, str] = {}
    given = _readable(batch, text, errors, max_bytes)
    if errors and on_error == "fail":
        raise DataError(next(iter(errors.values())))
    out = pyarrow.record_batch(nlp.annotate_batch(given, text, threads=1))
    place = out.schema.get_field_index(text)
    if given is not batch:
        out = out.set_column(place, batch.schema.field(text), batch.column(text))
    if on_error == "column":
        said = pyarrow.array([errors.get(row) for row in range(out.num_rows)], pyarrow.string())
        out = pyarrow.record_batch([*out.columns, said], names=[*out.schema.names, "error"])
    return out.replace_schema_metadata({**(out.schema.metadata or {}), **METADATA})


def _readable(batch: Any, text: str, errors: dict[int, str], max_bytes: int) -> Any:
    """The batch with a column of text, null in rows that cannot be annotated; bytes are decoded row by row."""
    import pyarrow
    import pyarrow.compute

    place = batch.schema.get_field_index(text)
    if place < 0:
        return batch
    column, kind = batch.column(place), batch.schema.field(place).type
    is_bytes = pyarrow.types.is_binary(kind) or pyarrow.types.is_large_binary(kind)
    if not is_bytes and not pyarrow.types.is_string(kind) and not pyarrow.types.is_large_string(kind):
        return batch
    sizes = pyarrow.compute.binary_length(column)
    if not is_bytes and (pyarrow.compute.max(sizes).as_py() or 0) <= max_bytes:
        return batch
    texts = []
    for row, size in enumerate(sizes.to_pylist()):
        try:
            if size is not None and size > max_bytes:
                raise DataError(f"the text has {size:,} bytes and at most {max_bytes:,} are taken; cut it into parts, or give a larger max_bytes")
            value = column[row].as_py()
            texts.append(value.decode("utf-8") if isinstance(value, bytes) else value)
        except (DataError, UnicodeDecodeError) as error:
            problem = f"the text is not UTF-8 (byte {error.start})" if isinstance(error, UnicodeDecodeError) else str(error)
            errors[row] = f"row {row} of the batch: {problem}"
            texts.append(None)
    return batch.set_column(place, text, pyarrow.array(texts, pyarrow.large_string() if kind == pyarrow.large_string() else pyarrow.string()))
