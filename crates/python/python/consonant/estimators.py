"""Models that are trained on your data, with the conventions of scikit-learn.

A class for each task of the library; settings are those of ``consonant train``, with the same names, defaults and ranges.
"""

from __future__ import annotations

import builtins
import contextlib
import json
import os
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Iterator, TypeVar

from . import _consonant, data, evaluate
from ._consonant import Certificate, Doc
from .errors import UsageError
from .progress import Progress, listening

if TYPE_CHECKING:
    import inspect

__all__ = ["NER", "Clusters", "Estimator", "Lemmatizer", "Linker", "Parser", "Segmenter", "Summarizer", "Tagger", "open"]

E = TypeVar("E", bound="Estimator")
#: Makes, of what a training learns from, what takes its shares to workers.
Carrier = Callable[[dict[str, Any]], contextlib.AbstractContextManager[Callable[..., Any]]]

_TASKS: dict[str, dict[str, Any]] = {task["name"]: task for task in json.loads(_consonant.tasks())}
_CLASSES: dict[str, type[Estimator]] = {}


class _Signature:
    """The settings as keywords, for help and editors."""

    def __get__(self, estimator: object, cls: type[Estimator]) -> inspect.Signature:
        import inspect

        keyword = inspect.Parameter.KEYWORD_ONLY
        return inspect.Signature([inspect.Parameter(name, keyword, default=None) for name in cls._names()])


class Estimator:
    """What all estimators share: ``fit``, ``predict``, ``score``, ``save``, and what scikit-learn asks for."""

    _task: ClassVar[str]
    _ending: ClassVar[str] = ".conllu"
    __signature__ = _Signature()

    def __init_subclass__(cls, task: str | None = None) -> None:
        if task is None:
            return
        cls._task = task
        settings = _TASKS[task]["settings"]
        lines = [f"    {each['name']}: {each['help']}{_default(each)}" for each in settings if not each["research"]]
        cls.__doc__ = f"{cls.__doc__}\n\n    Settings:\n" + "\n".join(f"    {line}" for line in lines)
        _CLASSES[task] = cls

    def __init__(self, **settings: Any) -> None:
        self._model: _consonant.Model | None = None
        self._settings: dict[str, Any] = dict.fromkeys(self._names())
        self.set_params(**settings)

    @classmethod
    def _names(cls) -> list[str]:
        return [setting["name"] for setting in _TASKS[cls._task]["settings"]]

    # What scikit-learn asks for.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings; ``None`` is the task's own default."""
        return dict(self._settings)

    def set_params(self: E, **settings: Any) -> E:
        """Changes settings by name."""
        for name, value in settings.items():
            if name not in self._settings:
                raise UsageError(f"there is no setting `{name}`; the settings are {', '.join(self._settings)}")
            self._settings[name] = value
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __getattr__(self, name: str) -> Any:
        settings = self.__dict__.get("_settings", {})
        if name in settings:
            return settings[name]
        raise AttributeError(f"{type(self).__name__} has no attribute `{name}`")

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self._settings, "model": None if self._model is None else self._model.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._settings = state["settings"]
        self._model = None if state["model"] is None else _consonant.Model.from_bytes(state["model"])

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._settings.items() if value is not None)
        return f"{type(self).__name__}({given})"

    # Data.

    def _text(self, given: Any) -> str:
        return data.sentences(given, self._column())

    def _column(self) -> str:
        return "upos"

    def _files(self, given: Any) -> contextlib.AbstractContextManager[list[str]]:
        return data.files(given, self._text, self._ending)

    def _answers(self, predicted: str) -> list[Any]:
        return [self._answer(sentence) for sentence in Doc.parse(predicted).sents]

    def _answer(self, sentence: _consonant.Sentence) -> Any:
        raise NotImplementedError

    def _scores(self, gold: str, predicted: str) -> dict[str, Any]:
        raise NotImplementedError

    def _main(self, scores: dict[str, Any]) -> float:
        raise NotImplementedError

    # Work.

    def fit(
        self: E,
        X: Any = None,
        y: Any = None,
        *,
        dev: Any = None,
        init: Estimator | None = None,
        tagger: Any = None,
        jackknife: int | None = None,
        models: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress = None,
        threads: int | None = None,
        **sources: Any,
    ) -> E:
        """Learns from data: a path, a list of sentences or records, a data frame, or anything that speaks Arrow.

        ``X`` is the task's first source; others (a summarizer has three) go by name. With ``y``, ``X`` has the words and ``y`` their labels.
        On ``dev`` the best epoch is chosen. ``progress`` is called with a line for each epoch, ``True`` shows a bar. ``tagger`` tags all data first.
        """
        how = {"init": init, "tagger": tagger, "jackknife": jackknife, "models": models}
        watch = {"checkpoint": checkpoint, "progress": progress, "threads": threads}
        return self._fit(_paired(X, y), dev, sources, how, watch)

    def _fit(
        self: E, X: Any, dev: Any, sources: dict[str, Any], how: dict[str, Any], watch: dict[str, Any], carrier: Carrier | None = None
    ) -> E:
        names = [source["name"] for source in _TASKS[self._task]["sources"]]
        if unknown := set(sources) - set(names):
            raise UsageError(f"there is no source `{sorted(unknown)[0]}`; the sources are {', '.join(names)}")
        if X is not None:
            sources.setdefault(names[0], X)
        if not sources:
            raise UsageError(f"give the training data: {' or '.join(names)}")
        settings = {name: value for name, value in self._settings.items() if value is not None}
        init = how["init"]
        with contextlib.ExitStack() as stack:
            lesson = {
                **how,
                "task": self._task,
                "sources": [stack.enter_context(self._files(sources.get(name))) for name in names],
                "settings": json.dumps(settings, default=os.fspath),
                "init": None if init is None else init._trained(),
                "tagger": stack.enter_context(_model_file(how["tagger"])),
            }
            self._model = _consonant.train(
                **lesson,
                dev=stack.enter_context(self._files(dev)),
                checkpoint=watch["checkpoint"],
                listener=stack.enter_context(listening(watch["progress"], self._epochs())),
                threads=watch["threads"],
                carry=None if carrier is None else stack.enter_context(carrier(lesson)),
            )
        return self

    def _epochs(self) -> int | None:
        """How many epochs a training may take, if it counts them."""
        default = next((each["default"] for each in _TASKS[self._task]["settings"] if each["name"] == "epochs"), None)
        epochs = self._settings.get("epochs") or default
        return None if epochs is None else int(epochs)

    def _trained(self) -> _consonant.Model:
        if self._model is None:
            raise UsageError(f"this {type(self).__name__} has learned nothing yet; call fit, or open a model")
        return self._model

    def annotate(
        self, X: Any, *, tagger: Any = None, models: str | os.PathLike[str] | None = None, threads: int | None = None, **options: Any
    ) -> tuple[str, list[Certificate]]:
        """The data with predictions filled in, in their own format, and a certificate for each unit that was decoded.

        ``options`` are those of ``consonant predict``.
        """
        with self._files(X) as paths, _model_file(tagger) as named:
            given = json.dumps({name: value for name, value in options.items() if value is not None})
            return self._trained().predict(paths, given, tagger=named, models=models, threads=threads)

    def predict(self, X: Any, **options: Any) -> list[Any]:
        """Predictions for each item, as plain Python; ``annotate`` has certificates, too."""
        return self._answers(self.annotate(X, **options)[0])

    def evaluate(self, X: Any, y: Any = None, **options: Any) -> dict[str, Any]:
        """All scores against gold data."""
        with self._files(_paired(X, y)) as gold, data.scratch() as folder:
            scores: dict[str, Any] = {}
            for path in gold:
                predicted = os.path.join(folder, f"predicted{self._written(path)}")
                with builtins.open(predicted, "w", encoding="utf-8", newline="") as file:
                    file.write(self._predicted_text(path, **options))
                scores = self._scores(path, predicted)
            return scores

    def _predicted_text(self, path: str, **options: Any) -> str:
        return self.annotate(path, **options)[0]

    def _written(self, path: str) -> str:
        """The ending of a file of predictions: they have the format of the input."""
        return os.path.splitext(path.removesuffix(".gz").removesuffix(".zst"))[1]

    def score(self, X: Any, y: Any = None, **options: Any) -> float:
        """The score that matters most for the task, between 0 and 1."""
        return self._main(self.evaluate(X, y, **options))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model, as ``consonant train`` does."""
        self._trained().save(path)

    def inspect(self, top: int = 20) -> str:
        """What the model is and has learned, for people."""
        return self._trained().inspect(top)

    def explain(self, X: Any, top: int = 20) -> str:
        """What decided each choice, for people."""
        with self._files(X) as paths:
            return "".join(self._trained().explain(path, top) for path in paths)

    @property
    def metadata_(self) -> dict[str, Any]:
        """What the training wrote about itself: settings, data fingerprint, sizes."""
        return dict(json.loads(self._trained().metadata))

    @property
    def settings_(self) -> str:
        """The settings file that would train the model again, in TOML, as ``consonant train --settings`` reads it."""
        return self._trained().settings()

    @property
    def summary_(self) -> str | None:
        """How the training went."""
        return self._trained().summary


def _default(setting: dict[str, Any]) -> str:
    return f" [{setting['default']}]" if setting["default"] not in (None, "") else ""


def _paired(X: Any, y: Any) -> Any:
    """Words and labels together."""
    if y is None:
        return X
    return [list(zip(words, labels)) for words, labels in zip(X, y)]


@contextlib.contextmanager
def _model_file(model: Any) -> Iterator[str | None]:
    """The file of a model that is named or at hand."""
    if isinstance(model, Estimator):
        with data.scratch() as folder:
            path = os.path.join(folder, f"{model._task}.model")
            model.save(path)
            yield path
    else:
        yield None if model is None else os.fspath(model)


def open(path: str | os.PathLike[str]) -> Estimator:  # noqa: A001
    """Opens a model that an estimator or ``consonant train`` saved; it knows its task."""
    model = _consonant.Model(path)
    estimator = _CLASSES[model.task]()
    estimator._model = model
    return estimator


class Tagger(Estimator, task="tagger"):
    """Parts of speech and morphology. ``predict`` gives a list of tags for each sentence, ``score`` the accuracy.

    >>> dogs = [[("dogs", "NOUN"), ("bark", "VERB")], [("cats", "NOUN"), ("sleep", "VERB")]]
    >>> Tagger(epochs=5).fit(dogs).predict([["cats", "bark"]])
    [['NOUN', 'VERB']]
    """

    def _column(self) -> str:
        stored = None if self._model is None else self.metadata_.get("column")
        return self._settings["column"] or stored or "upos"

    def _answer(self, sentence: _consonant.Sentence) -> Any:
        layers = [sentence.layer(name) for name in self._column().split("+")]
        return list(layers[0]) if len(layers) == 1 else list(zip(*layers))

    def _scores(self, gold: str, predicted: str) -> dict[str, Any]:
        return evaluate.tags(gold, predicted, column=self._column())

    def _main(self, scores: dict[str, Any]) -> float:
        return float(scores["accuracy"])


class Lemmatizer(Tagger, task="lemmatizer"):
    """Lemmas (and features) of words whose tags are known, trained on CoNLL-U. ``predict`` gives a list of lemmas for each sentence, ``score`` the
    accuracy."""

    def _column(self) -> str:
        return "lemma"


class NER(Estimator, task="ner"):
    """Names, whose labels may have to agree. ``predict`` gives a list of labels for each sentence, ``score`` conlleval's F1.

    >>> names = [[("in", "O"), ("Kiel", "B-LOC")], [("Ann", "B-PER"), ("left", "O")]] * 3
    >>> NER(epochs=10).fit(names).predict([["in", "Kiel"]])
    [['O', 'B-LOC']]
    """

    def _column(self) -> str:
        return "entity"

    def _answer(self, sentence: _consonant.Sentence) -> Any:
        return [label or "O" for label in sentence.layer("entity")]

    def _scores(self, gold: str, predicted: str) -> dict[str, Any]:
        return evaluate.entities(gold, predicted)

    def _main(self, scores: dict[str, Any]) -> float:
        return float(scores["f1"])


class Parser(Estimator, task="parser"):
    """Dependency trees. ``predict`` gives a list of heads (0 for the root) with relations for each sentence, ``score`` LAS."""

    def _answer(self, sentence: _consonant.Sentence) -> Any:
        return list(zip(sentence.heads, sentence.layer("deprel")))

    def _scores(self, gold: str, predicted: str) -> dict[str, Any]:
        return evaluate.trees(gold, predicted)

    def _main(self, scores: dict[str, Any]) -> float:
        return float(scores["LAS"]["f1"])


class _Texts(Estimator):
    """Tasks that read raw text."""

    def predict(self, X: Any, **options: Any) -> list[Any]:
        texts = [X] if isinstance(X, (str, os.PathLike)) else list(X)
        predicted = (self._segmented(text, **options) for text in texts)
        return [self._answers(text) if text.strip() else [] for text in predicted]

    def _segmented(self, text: Any, **options: Any) -> str:
        if isinstance(text, os.PathLike):
            return self.annotate(text, **options)[0]
        with data.files(text + "\n", str, ".txt") as paths:
            return self._trained().predict(paths, json.dumps(options))[0]


class Segmenter(_Texts, task="segmenter"):
    """Sentences and tokens of raw text, trained on CoNLL-U. ``predict`` gives the sentences of each text, as lists of words; ``score`` the F1 of
    words."""

    def _answer(self, sentence: _consonant.Sentence) -> Any:
        return sentence.layer("form")

    def _written(self, path: str) -> str:
        return ".conllu"

    def _predicted_text(self, path: str, **options: Any) -> str:
        with builtins.open(path, encoding="utf-8") as file:
            return self._segmented(Doc.parse(file.read()).text, **options)

    def _scores(self, gold: str, predicted: str) -> dict[str, Any]:
        return evaluate.trees(gold, predicted)

    def _main(self, scores: dict[str, Any]) -> float:
        return float(scores["Words"]["f1"])


class Clusters(_Texts, task="clusters"):
    """Classes of words that stand in the same surroundings, learned from raw text: a path, or a list of texts. Taggers, recognizers of names
    and parsers take them by the setting ``clusters``, as a file that ``save`` wrote. ``predict`` gives the sentences of each text, as lists of words with
    their clusters (``None`` for words that are in none); there is nothing to score.

    >>> Clusters(count=2, min_count=1).fit(["a dog ran. a cat ran. a dog sat. a cat sat."]).predict("a bird ran")[0][0][1]
    ('bird', None)
    """

    _ending = ".txt"

    def _text(self, given: Any) -> str:
        return given if isinstance(given, str) else "\n\n".join(given)

    def _answer(self, sentence: _consonant.Sentence) -> Any:
        marks = ((word.misc or "").split("|") for word in sentence)
        clusters = (next((mark.removeprefix("Cluster=") for mark in own if mark.startswith("Cluster=")), None) for own in marks)
        return list(zip(sentence.layer("form"), clusters))

    def evaluate(self, X: Any, y: Any = None, **options: Any) -> dict[str, Any]:
        raise UsageError("clusters are learned without gold data, so that there is nothing to score")


class _Records(Estimator):
    """Tasks whose items are records."""

    _ending = ".jsonl"

    def _text(self, given: Any) -> str:
        return data.records(given)

    def _answers(self, predicted: str) -> list[Any]:
        return [self._record(json.loads(line)) for line in predicted.splitlines() if line.strip()]

    def _record(self, record: dict[str, Any]) -> Any:
        raise NotImplementedError


class Linker(_Records, task="threads"):
    """Which message of a conversation answers which. ``predict`` gives a list of (source, target) for each conversation, ``score`` the F1 of
    links."""

    def _record(self, record: dict[str, Any]) -> Any:
        return [tuple(link) for link in record["links"]]

    def _scores(self, gold: str, predicted: str) -> dict[str, Any]:
        return evaluate.links(gold, predicted)

    def _main(self, scores: dict[str, Any]) -> float:
        return float(scores["f1"])


class Summarizer(_Records, task="summarizer"):
    """Summaries of topics, records with ``id``, ``documents`` (each with its ``text``) and, to learn from, ``summaries``. ``predict`` gives a text for each topic, ``score``
    the recall of ROUGE-2."""

    def _record(self, record: dict[str, Any]) -> Any:
        return record["summary"]

    def _scores(self, gold: str, predicted: str) -> dict[str, Any]:
        return evaluate.summary(gold, predicted)

    def _main(self, scores: dict[str, Any]) -> float:
        return float(scores["rouge_2"]["recall"])
