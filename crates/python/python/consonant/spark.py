"""Spark: columns of text annotated where they lie, batch by batch, one thread a task; models go to each executor once.

``annotate`` adds nested columns; ``tokens``, ``entities`` and ``arcs`` make flat ones of them, for SQL; ``summarize`` makes a row of each group.
"""

from __future__ import annotations

import functools
import hashlib
import os
from typing import Any, Iterable, Iterator, Sequence

from . import bulk, load
from .errors import UsageError
from .nlp import Nlp

__all__ = ["annotate", "arcs", "entities", "summarize", "tokens"]


@functools.lru_cache(maxsize=4)
def _opened(models: str | None, shipped: bool, layers: tuple[str, ...] | None) -> Nlp:
    """One pipeline for each worker process."""
    if models is not None and shipped:
        from pyspark import SparkFiles

        models = SparkFiles.get(models)
    return load(models, layers=layers)


def _fingerprint(models: str | os.PathLike[str] | None) -> tuple[list[str], str]:
    """The models of a folder, and a name that their content gives."""
    if models is None:
        return [], ""
    names = sorted(name for name in os.listdir(models) if name.endswith(".model"))
    digest = hashlib.sha256()
    for name in names:
        with open(os.path.join(models, name), "rb") as file:
            digest.update(name.encode() + hashlib.sha256(file.read()).digest())
    return names, f"consonant-{digest.hexdigest()[:16]}"


def _ship(df: Any, models: str | os.PathLike[str] | None) -> tuple[str | None, bool, dict[str, str]]:
    """Sends a folder of models to the executors, packed, under a name that its content gives; a local session reads it where it is.

    Also tells what stands in the metadata of columns.
    """
    if models is None:
        return None, False, bulk.METADATA
    context = df.sparkSession.sparkContext
    folder = os.fspath(models)
    names, known = _fingerprint(models)
    metadata = {**bulk.METADATA, "models": known}
    if context.master.startswith("local") and not context.master.startswith("local-cluster"):
        return os.path.abspath(folder), False, metadata
    import tempfile
    import zipfile

    if not any(known in one for one in context.listArchives):
        path = os.path.join(tempfile.mkdtemp(prefix="consonant-"), f"{known}.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as packed:
            for name in names:
                packed.write(os.path.join(folder, name), name)
        context.addArchive(f"{path}#{known}")
    return known, True, metadata


def _schema(schema: Any, metadata: dict[str, str]) -> Any:
    """Spark's schema of columns of Arrow, with version and models in the metadata of the columns that are ours."""
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructField, StructType

    ours = ("sentences", "entities", "error")
    fields = from_arrow_schema(schema).fields
    return StructType(
        [StructField(each.name, each.dataType, each.nullable, metadata if each.name in ours else each.metadata) for each in fields]
    )


def annotate(
    df: Any,
    text: str = "text",
    *,
    layers: Iterable[str] | None = None,
    models: str | os.PathLike[str] | None = None,
    on_error: str = "fail",
    max_bytes: int = bulk.MAX_BYTES,
) -> Any:
    """Adds the columns ``sentences`` and ``entities`` to a data frame of Spark, as ``nlp.annotate_batch`` does.

    With ``on_error="column"`` a row that cannot be annotated has its error in the column ``error``; otherwise the job fails and says which row it was.
    A row of more than ``max_bytes`` bytes is such a row.
    """
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema

    bulk.check(on_error, max_bytes)
    wanted = None if layers is None else tuple(layers)
    empty = pyarrow.RecordBatch.from_pylist([], schema=to_arrow_schema(df.schema))
    here = load(models, layers=wanted)
    annotated = bulk.annotate(here, empty, text, on_error).schema
    name, shipped, metadata = _ship(df, models)
    schema = _schema(annotated, metadata)

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield bulk.annotate(_opened(name, shipped, wanted), batch, text, on_error, max_bytes)

    return df.mapInArrow(work, schema)


def _kept(df: Any, keep: Sequence[str] | None) -> list[str]:
    """The columns that go along; without a word, all but the nested ones and the text."""
    given = [name for name in df.columns if name not in ("sentences", "entities", "text")] if keep is None else keep
    return [f"`{name}`" for name in given]


def tokens(df: Any, keep: Sequence[str] | None = None) -> Any:
    """A row for each token of what ``annotate`` made: ``sentence`` and ``token`` count from 0, then the token's own columns."""
    kept = _kept(df, keep)
    sentences = df.selectExpr(*kept, "posexplode(sentences) as (sentence, one)")
    return sentences.selectExpr(*kept, "sentence", "posexplode(one.tokens) as (token, word)").selectExpr(*kept, "sentence", "token", "word.*")


def entities(df: Any, keep: Sequence[str] | None = None) -> Any:
    """A row for each name of what ``annotate`` made."""
    kept = _kept(df, keep)
    return df.selectExpr(*kept, "explode(entities) as name").selectExpr(*kept, "name.*")


def arcs(df: Any, keep: Sequence[str] | None = None) -> Any:
    """A row for each arc of what ``annotate`` made: the words at both ends and the relation; the root's head is null."""
    kept = _kept(df, keep)
    sentences = df.selectExpr(*kept, "posexplode(sentences) as (sentence, one)")
    words = sentences.selectExpr(*kept, "sentence", "one", "posexplode(one.tokens) as (token, word)")
    head = "case when word.head > 0 then element_at(one.tokens, word.head).text end as head"
    return words.where("word.head is not null").selectExpr(*kept, "sentence", "token", "word.text as word", "word.deprel as deprel", head)


def summarize(
    df: Any,
    group_by: str | Sequence[str],
    text: str = "text",
    *,
    models: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Any:
    """A summary for each group of rows: the columns of ``group_by``, ``summary``, and what is proven of it (``value``, ``bound``, ``status``).

    ``options`` are those of ``nlp.summarize``. The texts of a group are put in order, so that the order of rows changes nothing.
    """
    import pyarrow
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    groups = [group_by] if isinstance(group_by, str) else list(group_by)
    if unknown := [column for column in [*groups, text] if column not in df.columns]:
        raise UsageError(f"there is no column `{unknown[0]}`; the columns are {', '.join(df.columns)}")
    if not isinstance(df.schema[text].dataType, StringType):
        raise UsageError(f"the column `{text}` is {df.schema[text].dataType.simpleString()}; expected text (a string)")
    name, shipped, metadata = _ship(df, models)
    fields = [df.schema[group] for group in groups]
    answers = [("summary", StringType()), ("value", DoubleType()), ("bound", DoubleType()), ("status", StringType())]
    schema = StructType(fields + [StructField(column, kind, True, metadata) for column, kind in answers])

    def work(table: Any) -> Any:
        texts = sorted(one for one in table.column(text).to_pylist() if one is not None)
        row = {group: table.column(group)[:1] for group in groups}
        if texts:
            summary = _opened(name, shipped, None).summarize(texts, threads=1, **options)
            known = summary.certificate
            made = [summary.text, known and known.value, known and known.bound, known and known.status]
        else:
            made = [None, None, None, None]
        kinds = (pyarrow.string(), pyarrow.float64(), pyarrow.float64(), pyarrow.string())
        row.update({column: pyarrow.array([one], kind) for (column, _), one, kind in zip(answers, made, kinds)})
        return pyarrow.table(row)

    return df.groupBy(*groups).applyInArrow(work, schema)
