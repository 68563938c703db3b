"""Labels and trees for the scores of any model: NumPy arrays in, certified answers out.

A tagger's scores know nothing of each other; here they become a sequence that its scheme allows:

>>> import numpy
>>> scores = numpy.array([[0.0, 0.5, 1.0], [0.0, 0.5, 1.0]])
>>> found = bio(scores, ["O", "B-LOC", "I-LOC"])
>>> found.labels, found.certificate.status, found.certificate.value
(['B-LOC', 'I-LOC'], 'optimal', 1.5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from ._consonant import Certificate, best_batch, best_labels, best_tree, label_marginals

if TYPE_CHECKING:
    import numpy

__all__ = ["Batch", "Labels", "Tree", "batch", "bio", "marginals", "tree"]


def _array(scores: Any) -> Any:
    """Scores where they lie: NumPy sees those of anything that speaks DLPack."""
    if hasattr(scores, "__dlpack__") and not hasattr(scores, "__array_interface__"):
        import numpy

        return numpy.from_dlpack(scores)
    return scores


class Labels(NamedTuple):
    """The best label sequence."""

    #: The labels by name.
    labels: list[str]
    #: The labels by number.
    path: numpy.ndarray[Any, Any]
    certificate: Certificate


class Tree(NamedTuple):
    """The best tree."""

    #: The head of each word, counted from 1; 0 for the root.
    heads: numpy.ndarray[Any, Any]
    certificate: Certificate


class Batch(NamedTuple):
    """The best label sequences of a batch. A dynamic program found them: each value is also the bound."""

    #: The labels by number, a row for each sequence, -1 behind its end.
    paths: numpy.ndarray[Any, Any]
    #: The value of each sequence.
    values: numpy.ndarray[Any, Any]


def bio(scores: Any, labels: Sequence[str], *, scheme: str | None = None, transitions: Any = None) -> Labels:
    """The best sequence that a scheme allows.

    ``scores`` has a row for each word and a column for each of ``labels``; ``scheme`` is ``bio`` (IOB2), ``iob1``, ``bioes`` or ``bilou``, told by
    the labels without it, or ``none``; ``transitions`` are scores for pairs of labels, a row for each label before.
    """
    labels = list(labels)
    path, certificate = best_labels(_array(scores), labels, scheme, _array(transitions))
    return Labels([labels[label] for label in path], path, certificate)


def marginals(
    scores: Any, labels: Sequence[str] | None = None, *, scheme: str | None = None, transitions: Any = None
) -> tuple[numpy.ndarray[Any, Any], float]:
    """The probability of each label at each word under the constraints, and the logarithm of the sum over all sequences.

    >>> probabilities, log_sum = marginals([[0.0, 0.0]])
    >>> probabilities.tolist(), round(log_sum, 4)
    ([[0.5, 0.5]], 0.6931)
    """
    return label_marginals(_array(scores), None if labels is None else list(labels), scheme, _array(transitions))


def tree(scores: Any, *, single_root: bool = True, projective: bool = False) -> Tree:
    """The best dependency tree. Rows of ``scores`` are heads, columns words; 0 is the root.

    >>> tree([[0, 5, 4], [0, 0, 1], [0, 1, 0]]).heads.tolist()
    [0, 1]
    """
    return Tree(*best_tree(_array(scores), single_root, projective))


def batch(
    scores: Any,
    labels: Sequence[str] | None = None,
    *,
    lengths: Any = None,
    scheme: str | None = None,
    transitions: Any = None,
    threads: int | None = None,
) -> Batch:
    """The best sequences of a batch: ``scores`` has the shape (sequences, positions, labels).

    >>> import numpy
    >>> scores = numpy.zeros((2, 3, 3)); scores[:, :, 2] = 1.0
    >>> batch(scores, ["O", "B-LOC", "I-LOC"], lengths=[3, 2]).paths.tolist()
    [[1, 2, 2], [1, 2, -1]]
    """
    named = None if labels is None else list(labels)
    return Batch(*best_batch(_array(scores), lengths, named, scheme, _array(transitions), threads))
