"""Conditional random fields and their kin over feature dictionaries, a drop-in for sklearn-crfsuite's."""

from __future__ import annotations

from typing import Any, Iterable, Sequence, TypeVar

from . import _consonant
from .errors import UsageError
from .progress import Progress, listening

__all__ = ["CRF"]

C = TypeVar("C", bound="CRF")

#: CRFsuite's names of algorithms.
_NAMES = {
    "lbfgs": "likelihood",
    "l2sgd": "sgd",
    "ap": "averaged-perceptron",
    "pa": "passive-aggressive",
    "arow": "arow",
}
#: Epochs where nobody says how many.
_EPOCHS = {"likelihood": 1000, "l1-likelihood": 1000, "sgd": 100}
#: Parameters that go to the algorithm, and their names there.
_PARAMETERS = {
    "c1": "c1",
    "c2": "c2",
    "epsilon": "epsilon",
    "period": "period",
    "delta": "delta",
    "num_memories": "memory",
    "pa_type": "type",
    "c": "c",
    "averaging": "average",
    "variance": "variance",
    "gamma": "gamma",
}
#: Parameters of CRFsuite that can be given the values that they have here, and no others.
_FIXED: dict[str, tuple[Any, ...]] = {
    "linesearch": ("MoreThuente",),
    "max_linesearch": (20,),
    "calibration_eta": (),
    "calibration_rate": (),
    "calibration_samples": (),
    "calibration_candidates": (),
    "calibration_max_trials": (),
    "model_filename": (),
    "keep_tempfiles": (False,),
    "trainer_cls": (),
}


class CRF:
    """Labels for sequences of feature dictionaries.

    ``X`` is a list of sequences of items; an item is a dictionary of features (a string ``"word": "dog"`` is the feature ``word:dog``, a number
    its value, a truth 1 or 0, a list of strings several features) or a list of strings. ``y`` has a label for each item.

    >>> X = [[{"word": "the"}, {"word": "run"}], [{"word": "they"}, {"word": "run"}]]
    >>> y = [["D", "N"], ["P", "V"]]
    >>> crf = CRF(algorithm="likelihood", c2=0.1, max_iterations=50).fit(X, y)
    >>> crf.predict(X)
    [['D', 'N'], ['P', 'V']]
    >>> crf.classes_, round(sum(crf.predict_marginals(X)[0][0].values()), 6)
    (['D', 'N', 'P', 'V'], 1.0)

    ``algorithm`` is one of CRFsuite's (``lbfgs``, ``l2sgd``, ``ap``, ``pa``, ``arow``) or of ours (``consonant train tagger --algorithm list``); with ``c1``
    above 0, likelihood is trained by OWL-QN. ``order`` says how many labels back the chain looks. All transitions have a weight, seen
    or not, so ``all_possible_transitions`` changes nothing. ``parameters`` are further ones of the algorithm, by name. ``threads`` changes the time and nothing else.
    The line search is Moré and Thuente's, CRFsuite's default; what is CRFsuite's alone (other searches, calibration, files) is refused by ``fit`` if it is given.
    """

    def __init__(
        self,
        algorithm: str | None = None,
        *,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        model_filename: str | None = None,
        keep_tempfiles: bool | None = None,
        trainer_cls: Any = None,
        order: int = 1,
        parameters: dict[str, float] | None = None,
        seed: int = 1,
        threads: int = 1,
        verbose: bool | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.order = order
        self.parameters = parameters
        self.seed = seed
        self.threads = threads
        self.verbose = verbose

    # What scikit-learn asks for.

    @classmethod
    def _names(cls) -> list[str]:
        code = cls.__init__.__code__
        return list(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: C, **parameters: Any) -> C:
        """Changes parameters by name."""
        for name, value in parameters.items():
            if name not in self._names():
                raise UsageError(f"there is no parameter `{name}`; the parameters are {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False, dict=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_chain" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "_chain" in state:
            state["_chain"] = state["_chain"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_chain" in state:
            self._chain = _consonant.Crf.from_bytes(state["_chain"])

    def __repr__(self) -> str:
        defaults = CRF().get_params()
        given = (f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name])
        return f"CRF({', '.join(given)})"

    # Work.

    def fit(self: C, X: Iterable[Any], y: Iterable[Any], X_dev: Any = None, y_dev: Any = None, *, progress: Progress = None) -> C:
        """Learns from sequences and their labels; ``progress`` is called with a line for each epoch, ``True`` shows a bar.

        ``X_dev`` and ``y_dev`` change nothing: CRFsuite only prints how it does on them.
        """
        algorithm = _NAMES.get(self.algorithm or "lbfgs", self.algorithm or "lbfgs")
        for name, known in _FIXED.items():
            if getattr(self, name) is not None and getattr(self, name) not in known:
                raise UsageError(f"`{name}` is CRFsuite's own and cannot be {getattr(self, name)!r} here; leave it out")
        given = {ours: getattr(self, name) for name, ours in _PARAMETERS.items() if getattr(self, name) is not None}
        if algorithm == "sgd" and "c1" in given:
            given.pop("c1")
        if self.error_sensitive is not None:
            # The margin grows with the root of the number of wrong labels, or not at all.
            given["cost-power"] = 0.5 if self.error_sensitive else 0.0
        if algorithm in ("averaged-perceptron", "passive-aggressive", "arow") and given.get("epsilon") == 0.0:
            given.pop("epsilon")
        given.update(self.parameters or {})
        epochs = self.max_iterations or _EPOCHS.get(algorithm, 100)
        with listening(progress or (print if self.verbose else None), epochs) as tell:
            self._chain = _consonant.Crf.train(
                X,
                y,
                algorithm,
                [(name, float(value)) for name, value in given.items()],
                order=self.order,
                min_count=max(1, int(self.min_freq or 1)),
                all_states=bool(self.all_possible_states),
                epochs=epochs,
                seed=self.seed,
                threads=self.threads,
                listener=tell,
            )
        #: Epoch, loss and seconds of each epoch.
        self.training_log_ = self._chain.history
        return self

    def _fitted(self) -> _consonant.Crf:
        if "_chain" not in self.__dict__:
            raise UsageError("this CRF has learned nothing yet; call fit")
        return self._chain

    def predict(self, X: Iterable[Any]) -> list[list[str]]:
        """The best labels of each sequence."""
        return self._fitted().predict(X, self.threads)

    def predict_single(self, xseq: Iterable[Any]) -> list[str]:
        """The best labels of one sequence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Iterable[Any]) -> list[list[dict[str, float]]]:
        """The probability of each label at each item."""
        return self._fitted().marginals(X, self.threads)

    def predict_marginals_single(self, xseq: Iterable[Any]) -> list[dict[str, float]]:
        """The probability of each label at each item of one sequence."""
        return self.predict_marginals([xseq])[0]

    def score(self, X: Iterable[Any], y: Sequence[Sequence[str]]) -> float:
        """The share of right labels."""
        pairs = [(found, gold) for path, labels in zip(self.predict(X), y) for found, gold in zip(path, labels)]
        return sum(found == gold for found, gold in pairs) / max(len(pairs), 1)

    @property
    def classes_(self) -> list[str]:
        """The labels."""
        return self._fitted().labels

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """The weight of each pair of neighbouring labels."""
        return {(before, label): weight for before, label, weight in self._fitted().transition_features()}

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """The weight of each feature for each label."""
        return {(name, label): weight for name, label, weight in self._fitted().state_features()}

    @property
    def attributes_(self) -> list[str]:
        """The features that have a weight."""
        return list(dict.fromkeys(name for name, _, _ in self._fitted().state_features()))

    @property
    def num_attributes_(self) -> int:
        """How many features have a weight."""
        return len(self.attributes_)

    @property
    def size_(self) -> int:
        """The size of the model in bytes."""
        return len(self._fitted().to_bytes())
