"""Ray: columns of text annotated where they lie, batch by batch, and models trained by workers that each take a share.

An actor opens its models, or reads its training data, once.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, Iterable, Iterator, TypeVar

from . import _consonant, bulk, load
from .errors import DataError, Error
from .estimators import Estimator
from .progress import Progress

__all__ = ["Annotator", "Learner", "annotate", "fit"]

E = TypeVar("E", bound=Estimator)
#: So often in a row may workers be lost without an answer between.
LOSSES = 10


class Annotator:
    """A pipeline that an actor of Ray keeps open."""

    def __init__(
        self,
        text: str = "text",
        models: str | None = None,
        layers: list[str] | None = None,
        on_error: str = "fail",
        max_bytes: int = bulk.MAX_BYTES,
    ) -> None:
        self.how = (text, on_error, max_bytes)
        self.nlp = load(models, layers=layers)

    def __call__(self, table: Any) -> Any:
        import pyarrow

        batches = table.combine_chunks().to_batches() or [pyarrow.RecordBatch.from_pylist([], schema=table.schema)]
        return pyarrow.Table.from_batches([bulk.annotate(self.nlp, batch, *self.how) for batch in batches])


def annotate(
    ds: Any,
    text: str = "text",
    *,
    layers: Iterable[str] | None = None,
    models: str | os.PathLike[str] | None = None,
    on_error: str = "fail",
    max_bytes: int = bulk.MAX_BYTES,
    concurrency: int | tuple[int, int] = 1,
    **options: Any,
) -> Any:
    """Adds the columns ``sentences`` and ``entities`` to a dataset of Ray, as ``nlp.annotate_batch`` does; ``concurrency`` actors work on it, or between so many and so many.

    ``models`` is a folder that every node sees. With ``on_error="column"`` a row that cannot be annotated has its error in the column ``error``; a row of more than
    ``max_bytes`` bytes is such a row. ``options`` go to ``map_batches``.
    """
    from ray.data import ActorPoolStrategy

    bulk.check(on_error, max_bytes)
    fewest, most = (concurrency, concurrency) if isinstance(concurrency, int) else concurrency
    given = {
        "text": text,
        "models": None if models is None else os.path.abspath(os.fspath(models)),
        "layers": None if layers is None else list(layers),
        "on_error": on_error,
        "max_bytes": max_bytes,
    }
    actors = ActorPoolStrategy(min_size=fewest, max_size=most)
    return ds.map_batches(Annotator, fn_constructor_kwargs=given, batch_format="pyarrow", compute=actors, **{"batch_size": 256, **options})


class Learner:
    """A worker of a training that an actor of Ray keeps: the data, read, and weights on demand."""

    def __init__(self, lesson: dict[str, Any], files: list[list[tuple[str, bytes]]], init: bytes | None, tagger: bytes | None) -> None:
        from .data import scratch

        self.files = contextlib.ExitStack()
        folder = self.files.enter_context(scratch())
        sources = [[_written(folder, f"{number}-{place}-{name}", content) for place, (name, content) in enumerate(source)] for number, source in enumerate(files)]
        self.worker = _consonant.Worker(
            **lesson,
            sources=sources,
            init=None if init is None else _consonant.Model.from_bytes(init),
            tagger=None if tagger is None else _written(folder, "tagger.model", tagger),
        )

    def ready(self) -> None:
        """Whether it is there."""

    def work(self, stage: int, share: int, shares: int, state: bytes, *finished: bytes) -> bytes:
        """The answer for one share."""
        answer = self.worker.work(stage, share, shares, state, finished)
        # By now everything has been read, and who ends an actor does not ask it to tidy up.
        self.files.close()
        return answer


def _written(folder: str, name: str, content: bytes) -> str:
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content)
    return path


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error


class _Team:
    """Learners that come and go; the answers do not depend on who gives them."""

    def __init__(self, lesson: dict[str, Any], workers: int, options: dict[str, Any]) -> None:
        import ray

        files = [[(os.path.basename(path), _read(path)) for path in source] for source in lesson["sources"]]
        init, tagger = lesson["init"], lesson["tagger"]
        given = {name: lesson[name] for name in ("task", "settings", "jackknife", "models")}
        shipped = [ray.put(one) for one in (given, files, None if init is None else init.to_bytes(), tagger and _read(tagger))]
        remote = ray.remote(Learner).options(**{"num_cpus": 1, **options})
        self.hire: Callable[[], Any] = lambda: remote.remote(*shipped)
        #: What is waited for: the learner, and its share or None for one that has just been hired.
        self.waiting: dict[Any, tuple[Any, int | None]] = {}
        self.idle: list[Any] = []
        self.finished: list[Any] = []
        for _ in range(workers):
            self.replace()

    def replace(self) -> None:
        """Hires a learner, who may have to wait for a place."""
        learner = self.hire()
        self.waiting[learner.ready.remote()] = (learner, None)

    def carry(self, stage: int, shares: int, state: bytes, finished: list[bytes]) -> list[bytes]:
        """The answers for shares, in their order."""
        import ray

        self.finished += [ray.put(outcome) for outcome in finished[len(self.finished) :]]
        given, todo, losses = ray.put(state), list(range(shares)), 0
        answers: dict[int, bytes] = {}
        while len(answers) < shares:
            while todo and self.idle:
                learner, number = self.idle.pop(), todo.pop(0)
                self.waiting[learner.work.remote(stage, number, shares, given, *self.finished)] = (learner, number)
            [done], _ = ray.wait(list(self.waiting), num_returns=1)
            learner, share = self.waiting.pop(done)
            try:
                answer = ray.get(done)
            except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError, ray.exceptions.OwnerDiedError) as lost:
                losses += 1
                if losses > LOSSES:
                    raise Error(f"workers are lost again and again: {lost}") from lost
                if share is not None:
                    todo.insert(0, share)
                self.replace()
                continue
            self.idle.append(learner)
            if share is not None:
                answers[share], losses = answer, 0
        return [answers[share] for share in range(shares)]

    def dismiss(self) -> None:
        """Ends all learners."""
        import ray

        for learner in self.idle + [learner for learner, _ in self.waiting.values()]:
            ray.kill(learner)


def fit(
    estimator: E,
    X: Any = None,
    *,
    dev: Any = None,
    shards: int = 4,
    workers: int = 2,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    init: Estimator | None = None,
    tagger: Any = None,
    jackknife: int | None = None,
    models: str | os.PathLike[str] | None = None,
    options: dict[str, Any] | None = None,
    **sources: Any,
) -> E:
    """Trains an estimator on a cluster of Ray: ``workers`` actors work on ``shards`` shards of the data, whose weights are mixed after each epoch.

    The model is that of ``estimator.set_params(shards=shards).fit(...)``, to the bit, for any number of workers, those lost and replaced at work included. The
    rest is as in ``fit``; with ``checkpoint``, a file, a training that was ended goes on where it was. Data and models that are named go to the workers; files that settings
    name, and ``models``, must be where every node sees them. ``options`` are those of the actors.
    """

    @contextlib.contextmanager
    def carrier(lesson: dict[str, Any]) -> Iterator[Callable[..., Any]]:
        team = _Team(lesson, workers, options or {})
        try:
            yield team.carry
        finally:
            team.dismiss()

    how = {"init": init, "tagger": tagger, "jackknife": jackknife, "models": models}
    watch = {"checkpoint": checkpoint, "progress": progress, "threads": None}
    return estimator.set_params(shards=shards)._fit(X, dev, sources, how, watch, carrier)
