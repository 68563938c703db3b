"""Ray Data: columns of text annotated where they lie, batch by batch; an actor opens the models once."""

from __future__ import annotations

import os
from typing import Any, Iterable

from . import bulk, load

__all__ = ["Annotator", "annotate"]


class Annotator:
    """A pipeline that an actor of Ray keeps open."""

    def __init__(
        self, text: str = "text", models: str | None = None, layers: list[str] | None = None, on_error: str = "fail"
    ) -> None:
        self.text, self.on_error = text, on_error
        self.nlp = load(models, layers=layers)

    def __call__(self, table: Any) -> Any:
        import pyarrow

        batches = table.combine_chunks().to_batches() or [pyarrow.RecordBatch.from_pylist([], schema=table.schema)]
        return pyarrow.Table.from_batches([bulk.annotate(self.nlp, batch, self.text, self.on_error) for batch in batches])


def annotate(
    ds: Any,
    text: str = "text",
    *,
    layers: Iterable[str] | None = None,
    models: str | os.PathLike[str] | None = None,
    on_error: str = "fail",
    concurrency: int | tuple[int, int] = 1,
    **options: Any,
) -> Any:
    """Adds the columns ``sentences`` and ``entities`` to a dataset of Ray, as ``nlp.annotate_batch`` does; ``concurrency`` actors work on it.

    ``models`` is a folder that every node sees. With ``on_error="column"`` a row that cannot be annotated has its error in the column ``error``. ``options`` go to
    ``map_batches``.
    """
    bulk.check(on_error)
    given = {
        "text": text,
        "models": None if models is None else os.path.abspath(os.fspath(models)),
        "layers": None if layers is None else list(layers),
        "on_error": on_error,
    }
    return ds.map_batches(
        Annotator, fn_constructor_kwargs=given, batch_format="pyarrow", concurrency=concurrency, **{"batch_size": 256, **options}
    )
