"""What Spark, Ray and their like have in common: record batches in, record batches out, and rows that cannot be annotated."""

from __future__ import annotations

from typing import Any

from ._consonant import __version__
from .errors import Error, UsageError
from .nlp import Nlp

#: Whose words the columns are; stands in the metadata of what is written.
METADATA = {"consonant": __version__}


def check(on_error: str) -> None:
    """Refuses what is no way to treat errors."""
    if on_error not in ("column", "fail"):
        raise UsageError(f"there is no on_error={on_error!r}; say 'column' (the error stands beside its row) or 'fail'")


def annotate(nlp: Nlp, batch: Any, text: str, on_error: str) -> Any:
    """A record batch of pyarrow with the columns ``sentences`` and ``entities``; with ``on_error="column"`` also ``error``, null where all is well.

    >>> import consonant, pyarrow
    >>> rows = pyarrow.record_batch({"text": pyarrow.array([b"Ann left.", b"\\xff"], pyarrow.binary())})
    >>> out = annotate(consonant.load(layers=[]), rows, "text", "column")
    >>> out.column("error").to_pylist()
    [None, 'row 1 of the batch: the text is not UTF-8 (byte 0)']
    """
    import pyarrow

    errors: dict[int, str] = {}
    given = _decoded(batch, text, errors, on_error)
    out = pyarrow.record_batch(nlp.annotate_batch(given, text, threads=1))
    place = out.schema.get_field_index(text)
    if given is not batch:
        out = out.set_column(place, batch.schema.field(text), batch.column(text))
    if on_error == "column":
        said = pyarrow.array([errors.get(row) for row in range(out.num_rows)], pyarrow.string())
        out = pyarrow.record_batch([*out.columns, said], names=[*out.schema.names, "error"])
    return out.replace_schema_metadata({**(out.schema.metadata or {}), **METADATA})


def _decoded(batch: Any, text: str, errors: dict[int, str], on_error: str) -> Any:
    """The batch with a column of text; bytes are decoded row by row."""
    import pyarrow

    place = batch.schema.get_field_index(text)
    if place < 0 or not (pyarrow.types.is_binary(batch.schema.field(place).type) or pyarrow.types.is_large_binary(batch.schema.field(place).type)):
        return batch
    texts = []
    for row, value in enumerate(batch.column(place).to_pylist()):
        try:
            texts.append(None if value is None else value.decode("utf-8"))
        except UnicodeDecodeError as error:
            errors[row] = f"row {row} of the batch: the text is not UTF-8 (byte {error.start})"
            if on_error == "fail":
                raise Error(errors[row]) from error
            texts.append(None)
    return batch.set_column(place, text, pyarrow.array(texts, pyarrow.string()))
