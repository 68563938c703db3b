import itertools

import numpy
import pytest

import consonant
from consonant import decode

LABELS = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def legal(path):
    before = "O"
    for label in path:
        if label.startswith("I-") and before[2:] != label[2:]:
            return False
        before = label
    return True


def test_bio_against_enumeration():
    rng = numpy.random.default_rng(3)
    transitions = rng.normal(size=(5, 5))
    for scores in rng.normal(size=(10, 4, 5)):
        value = lambda path: sum(scores[i, s] for i, s in enumerate(path)) + sum(
            transitions[a, b] for a, b in zip(path, path[1:])
        )
        allowed = (p for p in itertools.product(range(5), repeat=4) if legal([LABELS[s] for s in p]))
        best = max(allowed, key=value)
        found = decode.bio(scores, LABELS, transitions=transitions)
        assert found.path.tolist() == list(best) and found.labels == [LABELS[s] for s in best]
        assert found.certificate.value == pytest.approx(value(best), rel=1e-5)
        assert found.certificate.status == "optimal"


def test_a_batch_is_its_sequences():
    rng = numpy.random.default_rng(4)
    scores = rng.normal(size=(150, 7, 5)).astype(numpy.float32)
    lengths = rng.integers(0, 8, size=150)
    for threads in (1, 2):
        found = decode.batch(scores, LABELS, lengths=lengths, threads=threads)
        for row, values, length in zip(found.paths, scores, lengths):
            assert row[:length].tolist() == decode.bio(values[:length], LABELS).path.tolist()
            assert (row[length:] == -1).all()
    fortran = numpy.asfortranarray(scores.astype(float))
    assert (decode.batch(fortran, LABELS, lengths=lengths).paths == found.paths).all()
    with pytest.raises(consonant.UsageError):
        decode.batch(scores, LABELS, lengths=[9] * 150)
    with pytest.raises(consonant.UsageError, match="columns"):
        decode.batch(scores, ["O"])


def test_marginals_against_enumeration():
    rng = numpy.random.default_rng(5)
    scores = rng.normal(size=(3, 5))
    paths = [p for p in itertools.product(range(5), repeat=3) if legal([LABELS[s] for s in p])]
    weights = numpy.array([numpy.exp(sum(scores[i, s] for i, s in enumerate(p))) for p in paths])
    expected = numpy.zeros((3, 5))
    for path, weight in zip(paths, weights / weights.sum()):
        for position, label in enumerate(path):
            expected[position, label] += weight
    found, log_sum = decode.marginals(scores, LABELS)
    assert found == pytest.approx(expected, abs=1e-5) and log_sum == pytest.approx(numpy.log(weights.sum()), abs=1e-5)


def test_trees_against_enumeration():
    rng = numpy.random.default_rng(6)

    def is_tree(heads):
        for word in range(1, 5):
            seen = set()
            while word:
                if word in seen:
                    return False
                seen.add(word)
                word = heads[word - 1]
        return True

    for scores in rng.normal(size=(5, 5, 5)):
        value = lambda heads: sum(scores[h, m] for m, h in enumerate(heads, 1))
        trees = [h for h in itertools.product(range(5), repeat=4) if is_tree(h)]
        best = max(trees, key=value)
        assert decode.tree(scores, single_root=False).heads.tolist() == list(best)
        one = max((h for h in trees if h.count(0) == 1), key=value)
        assert decode.tree(scores).heads.tolist() == list(one)
        assert decode.tree(scores, projective=True).certificate.value <= value(one) + 1e-5
    forbidden = numpy.full((3, 3), -numpy.inf)
    with pytest.raises(consonant.Error):
        decode.tree(forbidden)
    assert decode.tree(numpy.zeros((1, 1))).heads.tolist() == []
    with pytest.raises(consonant.UsageError, match="square"):
        decode.tree(numpy.zeros((2, 3)))


def test_schemes():
    assert decode.bio([[0, 1, 0, 0, 0.0]], ["O", "B-X", "I-X", "E-X", "S-X"]).labels != ["B-X"]
    with pytest.raises(consonant.UsageError, match="no label"):
        decode.bio([[0.0]], ["house"])
    assert decode.bio([[0.0, 1.0]], ["a", "b"], scheme="none").labels == ["b"]


def test_scores_by_dlpack():
    class Tensor:
        """Speaks DLPack and nothing else, as tensors of other libraries do."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    scores = numpy.random.default_rng(5).normal(size=(3, 4, 3)).astype(numpy.float32)
    labels = ["O", "B-X", "I-X"]
    assert (decode.batch(Tensor(scores), labels).paths == decode.batch(scores, labels).paths).all()
    assert decode.bio(Tensor(scores[0]), labels).labels == decode.bio(scores[0], labels).labels
