"""Ray Data: columns of text annotated where they lie, batch by batch."""

from __future__ import annotations

import os
from typing import Any

from . import load

__all__ = ["Annotator", "annotate"]


class Annotator:
    """A pipeline that an actor of Ray keeps open."""

    def __init__(self, text: str = "text", models: str | None = None) -> None:
        self.text = text
        self.nlp = load(models)

    def __call__(self, table: Any) -> Any:
        import pyarrow

        return pyarrow.table(self.nlp.annotate_batch(table, self.text, threads=1))


def annotate(ds: Any, text: str = "text", *, models: str | os.PathLike[str] | None = None, concurrency: int = 1) -> Any:
    """Adds the columns ``sentences`` and ``entities`` to a dataset of Ray, as ``nlp.annotate_batch`` does; ``concurrency`` actors work on it."""
    folder = None if models is None else os.fspath(models)
    given = {"text": text, "models": folder}
    return ds.map_batches(Annotator, fn_constructor_kwargs=given, batch_format="pyarrow", concurrency=concurrency)
