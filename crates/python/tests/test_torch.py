"""Layers against finite differences; `crates/python/extra torch` runs these in an environment that has torch."""

import numpy
import pytest

import consonant
from consonant import _consonant

LABELS = ["O", "B-X", "I-X"]
#: A power of two: scores that are multiples of it are moved without rounding.
STEP = 1 / 128


def numbers(seed, *shape):
    return numpy.random.default_rng(seed).integers(-128, 129, size=shape) * STEP


def slopes(function, array):
    """The derivative of a function with respect to each number, by central differences."""
    found = numpy.zeros(array.shape)
    for place in numpy.ndindex(array.shape):
        values = []
        for step in (STEP, -STEP):
            moved = array.copy()
            moved[place] += step
            values.append(function(moved))
        found[place] = (values[0] - values[1]) / (2 * STEP)
    return found


def test_soft_answers_need_no_torch():
    scores, weights = numbers(1, 2, 4, 3), numbers(2, 2, 4, 3)
    for kind, tolerance in (("marginals", 1e-4), ("sparse-map", 2e-2)):
        shares, pairs, _ = _consonant.soft_batch(kind, scores, [4, 2], LABELS)
        assert numpy.allclose(shares[0].sum(1), 1) and numpy.allclose(shares[1].sum(1), [1, 1, 0, 0])
        assert numpy.allclose(pairs.sum((1, 2)), [3, 1]) and shares[0][0][2] == 0
        found, _, _ = _consonant.soft_batch(kind, scores, [4, 2], LABELS, gradient=weights)
        wanted = slopes(lambda moved: (_consonant.soft_batch(kind, moved, [4, 2], LABELS)[0] * weights).sum(), scores)
        assert numpy.abs(found - wanted).max() < tolerance
    arcs = numbers(3, 5, 5)
    shares = _consonant.sparse_tree(arcs)
    assert numpy.allclose(shares[:, 1:].sum(0), 1) and numpy.isclose(shares[0].sum(), 1)
    with pytest.raises(consonant.UsageError):
        _consonant.soft_batch("marginals", scores, [4, 5], LABELS)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def test_gradients_are_finite_differences(torch):
    from consonant import torch as layers

    gold, lengths = torch.tensor([[0, 1, 2, 0], [1, 2, 0, 0]]), torch.tensor([4, 2])
    weights = torch.tensor(numbers(4, 2, 4, 3))
    likelihood = lambda scores, pairs: layers.crf_log_likelihood(scores, gold, lengths=lengths, labels=LABELS, transitions=pairs).sum()
    marginals = lambda scores, pairs: (layers.crf_marginals(scores, lengths=lengths, labels=LABELS, transitions=pairs) * weights).sum()
    sparse = lambda scores, pairs: (layers.sparse_map(scores, lengths=lengths, labels=LABELS, transitions=pairs) * weights).sum()
    for layer, tolerance in ((likelihood, 1e-4), (marginals, 1e-4), (sparse, 2e-2)):
        scores, pairs = numbers(5, 2, 4, 3), numbers(6, 3, 3)
        given = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in (scores, pairs)]
        layer(*given).backward()
        value = lambda a, b: float(layer(torch.tensor(a), torch.tensor(b)))
        assert numpy.abs(given[0].grad.numpy() - slopes(lambda a: value(a, pairs), scores)).max() < tolerance
        assert numpy.abs(given[1].grad.numpy() - slopes(lambda b: value(scores, b), pairs)).max() < tolerance
    assert likelihood(torch.tensor(scores), None) <= 0


def test_trees(torch):
    from consonant import torch as layers

    arcs, weights = numbers(7, 4, 4), torch.tensor(numbers(8, 4, 4))
    given = torch.tensor(arcs, requires_grad=True)
    layer = lambda scores: (layers.sparse_map_tree(scores) * weights).sum()
    layer(given).backward()
    assert numpy.abs(given.grad.numpy() - slopes(lambda a: float(layer(torch.tensor(a))), arcs)).max() < 2e-2


def test_perturbed_answers_have_their_closed_form(torch):
    from consonant import torch as layers

    # One position, two labels: the second is best with the probability Φ(difference / (σ √2)).
    given = torch.tensor([[[0.0, 0.5]]], dtype=torch.float64, requires_grad=True)
    found = layers.perturb_and_map(given, samples=20_000, noise=1.0, seed=1)
    normal = torch.distributions.Normal(0.0, 2**0.5)
    assert abs(float(found[0, 0, 1].detach()) - float(normal.cdf(torch.tensor(0.5)))) < 0.02
    found[0, 0, 1].backward()
    density = float(normal.log_prob(torch.tensor(0.5)).exp())
    assert numpy.abs(given.grad.numpy() - [[[-density, density]]]).max() < 0.03


def test_a_tagger_learns_end_to_end(torch):
    from consonant import torch as layers

    torch.manual_seed(1)
    # A word is inside a name if and only if a capital stands before it, which a network alone cannot see: the chain has to carry it.
    words = torch.randint(0, 4, (64, 6))
    gold = torch.zeros_like(words)
    for place in range(6):
        gold[:, place] = torch.where(words[:, place] == 0, 1, 0)
        if place:
            inside = (words[:, place] == 1) & (gold[:, place - 1] > 0)
            gold[:, place] = torch.where(inside, 2, gold[:, place])
    embed = torch.nn.Embedding(4, 3)
    transitions = torch.nn.Parameter(torch.zeros(3, 3))
    optimizer = torch.optim.Adam([*embed.parameters(), transitions], lr=0.1)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = -layers.crf_log_likelihood(embed(words), gold, labels=LABELS, transitions=transitions).mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < 0.3 < losses[0]
    found = consonant.decode.batch(embed(words).detach().numpy(), LABELS, transitions=transitions.detach().numpy()).paths
    assert (found == gold.numpy()).mean() > 0.98
