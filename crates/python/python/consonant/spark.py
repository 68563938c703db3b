"""Spark: columns of text annotated where they lie, batch by batch."""

from __future__ import annotations

import functools
import os
from typing import Any, Iterable, Iterator

from . import load
from .nlp import Nlp

__all__ = ["annotate"]


@functools.lru_cache(maxsize=4)
def _opened(models: str | None) -> Nlp:
    """One pipeline for each worker process."""
    return load(models)


def annotate(df: Any, text: str = "text", *, models: str | os.PathLike[str] | None = None) -> Any:
    """Adds the columns ``sentences`` and ``entities`` to a data frame of Spark, as ``nlp.annotate_batch`` does.

    Each task annotates on one thread, because Spark already has one task for each core.
    """
    import pyarrow
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    folder = None if models is None else os.fspath(models)
    empty = pyarrow.RecordBatch.from_pylist([], schema=to_arrow_schema(df.schema))
    schema = from_arrow_schema(pyarrow.record_batch(_opened(folder).annotate_batch(empty, text, threads=1)).schema)

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield pyarrow.record_batch(_opened(folder).annotate_batch(batch, text, threads=1))

    return df.mapInArrow(work, schema)
