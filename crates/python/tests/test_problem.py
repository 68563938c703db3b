import itertools
import random

import numpy
import pytest

import consonant


def brute_force(size, scores, allowed):
    best = -numpy.inf
    for states in itertools.product([0, 1], repeat=size):
        if allowed(states):
            best = max(best, sum(score for score, on in zip(scores, states) if on))
    return best


LOGIC = {
    "exactly_one": lambda p, x: p.exactly_one(*x),
    "at_most_one": lambda p, x: p.at_most_one(x),
    "at_least_one": lambda p, x: p.at_least_one(*x),
    "implies": lambda p, x: p.implies(x[0], x[1]),
    "budget": lambda p, x: p.budget(*x, limit=2),
    "knapsack": lambda p, x: p.knapsack(x, [1.0, 2.0, 3.0, 4.0], 5.0),
    "linear": lambda p, x: p.linear({x[0]: 2.0, x[1]: -1.5, x[3]: 1.0}, "<=", 0.5),
    "linear_at_least": lambda p, x: p.linear({x[0]: 2.0, x[1]: -1.5, x[3]: 1.0}, ">=", 0.5),
    "linear_equal": lambda p, x: p.linear({x[0]: 1.0, x[1]: 1.0, x[2]: -1.0}, "==", 1.0),
    "or_output": lambda p, x: p.or_output(x[0], x[1], output=x[2]),
    "and_output": lambda p, x: p.and_output(x[0], x[1], output=x[2]),
    "xor_output": lambda p, x: p.xor_output(x[0], x[1], output=x[2]),
    "tree_budget": lambda p, x: p.tree_budget(x, [None, 0, 0, 1], [1, 1, 1, 1], 3),
    "negated": lambda p, x: p.at_least_one(~x[0], ~x[1]),
}
HOLDS = {
    "exactly_one": lambda s: sum(s) == 1,
    "at_most_one": lambda s: sum(s) <= 1,
    "at_least_one": lambda s: sum(s) >= 1,
    "implies": lambda s: s[0] <= s[1],
    "budget": lambda s: sum(s) <= 2,
    "knapsack": lambda s: s[0] + 2 * s[1] + 3 * s[2] + 4 * s[3] <= 5,
    "linear": lambda s: 2 * s[0] - 1.5 * s[1] + s[3] <= 0.5,
    "linear_at_least": lambda s: 2 * s[0] - 1.5 * s[1] + s[3] >= 0.5,
    "linear_equal": lambda s: s[0] + s[1] - s[2] == 1,
    "or_output": lambda s: s[2] == max(s[0], s[1]),
    "and_output": lambda s: s[2] == min(s[0], s[1]),
    "xor_output": lambda s: s[0] + s[1] <= 1 and s[2] == s[0] + s[1],
    "tree_budget": lambda s: s[1] <= s[0] and s[2] <= s[0] and s[3] <= s[1] and sum(s) <= 3,
    "negated": lambda s: not (s[0] and s[1]),
}


@pytest.mark.parametrize("kind", LOGIC)
def test_every_constraint_against_enumeration(kind):
    generator = random.Random(kind)
    for _ in range(5):
        scores = [generator.uniform(-2, 3) for _ in range(4)]
        p = consonant.Problem()
        x = p.binaries(scores)
        LOGIC[kind](p, x)
        s = p.solve()
        assert s.status == "optimal"
        assert s.value == pytest.approx(brute_force(4, scores, HOLDS[kind]))
        assert HOLDS[kind]([int(s[literal]) for literal in x])
        assert s.certificate.verify()


SOFT = ["exactly_one", "at_most_one", "at_least_one", "implies", "budget", "knapsack", "linear"]


@pytest.mark.parametrize("kind", SOFT)
def test_soft_constraints_against_enumeration(kind):
    generator = random.Random(kind)
    for penalty in [0.0, 0.7, 100.0]:
        scores = [generator.uniform(-2, 3) for _ in range(4)]
        p = consonant.Problem()
        x = p.binaries(scores)
        p.soft(LOGIC[kind](p, x), penalty=penalty)
        best = max(
            sum(score for score, on in zip(scores, states) if on) - penalty * (not HOLDS[kind](states))
            for states in itertools.product([0, 1], repeat=4)
        )
        assert p.solve().value == pytest.approx(best)


def test_a_soft_clause():
    p = consonant.Problem()
    a, b = p.binary("a", -1.0), p.binary("b", -2.0)
    broken = p.soft(a, b, penalty=0.5)
    s = p.solve()
    assert (s.value, s[broken], s[a]) == (-0.5, True, False)


def test_scores_of_factors():
    p = consonant.Problem()
    a, b = p.binary("a", 1.0), p.binary("b", 1.0)
    p.pair(a, b, -3.0)
    p.pattern(~a, b, score=0.25)
    p.constant = 10.0
    s = p.solve()
    assert s.value == pytest.approx(11.25) and s.assignment == {"a": False, "b": True}
    p = consonant.Problem()
    x = p.binaries([-1.0, -1.0, 0.0])
    p.cut(x, [(0, 1, 3.0)])
    assert p.solve(method="ad3").value == pytest.approx(1.0)


def test_chains_tables_and_trees():
    rng = numpy.random.default_rng(1)
    nodes, pairs = rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    best = max(
        sum(nodes[i, s] for i, s in enumerate(path)) + sum(pairs[a, b] for a, b in zip(path, path[1:]))
        for path in itertools.product(range(3), repeat=4)
    )
    p = consonant.Problem()
    xs = [p.variable(f"x{i}", ["a", "b", "c"], scores=nodes[i]) for i in range(4)]
    p.sequence(xs, pairs=pairs)
    s = p.solve()
    assert s.value == pytest.approx(best) and s[xs[0]] in "abc" and s.certificate.verify()
    p = consonant.Problem()
    xs = [p.variable(f"x{i}", 3, scores=nodes[i]) for i in range(4)]
    for first, second in zip(xs, xs[1:]):
        p.table([first, second], pairs)
    assert p.solve().value == pytest.approx(best)
    p = consonant.Problem()
    xs = [p.variable(f"x{i}", 3, scores=nodes[i]) for i in range(4)]
    p.tree_labelling(xs, [(0, 1), (1, 2), (2, 3)], [pairs] * 3)
    assert p.solve().value == pytest.approx(best)

    scores = rng.normal(size=(4, 4))
    p = consonant.Problem()
    arcs = {(h, m): p.binary(f"{h}-{m}", scores[h, m]) for h in range(4) for m in range(1, 4) if h != m}
    p.tree(arcs, single_root=True)
    s = p.solve()
    heads = [next(h for h in range(4) if h != m and s[arcs[h, m]]) for m in range(1, 4)]
    found = consonant.decode.tree(scores)
    assert heads == found.heads.tolist()
    assert s.value == pytest.approx(found.certificate.value, rel=1e-5)


@pytest.mark.parametrize("method", ["exact", "ad3", "subgradient"])
def test_methods_bound_the_optimum(method):
    p = consonant.Problem()
    x = p.binaries([1.0, 1.0, 1.0])
    for a, b in itertools.combinations(x, 2):
        p.at_most_one(a, b)
    s = p.solve(method, trace=True)
    assert s.value <= 1.0 + 1e-9 and s.bound >= 1.0 - 1e-9
    assert s.trace.shape[1] == 4 and s.marginals.shape == (3,)


def test_no_solution_and_wrong_problems():
    p = consonant.Problem()
    a = p.binary("a", 1.0)
    p.at_least_one(a)
    p.at_least_one(~a)
    s = p.solve()
    assert s.status == "infeasible" and s.assignment is None and s.value == -numpy.inf
    assert s.certificate.verify()
    with pytest.raises(KeyError):
        s[a]
    p = consonant.Problem()
    p.linear({p.binary("a"): 1.0}, ">=", 2.0)
    assert p.solve().status == "infeasible"
    other = consonant.Problem()
    with pytest.raises(consonant.UsageError, match="another problem"):
        other.at_most_one(a)
    with pytest.raises(consonant.ProblemError, match="a cost for each literal"):
        p.knapsack([p.binary("b")], [1.0, 2.0], 1.0)
    with pytest.raises(consonant.UsageError, match="no method"):
        p.solve("magic")
    with pytest.raises(consonant.ProblemError):
        p.linear({p.binary("c"): 1.0}, "<", 2.0)
    x = p.variable("x", ["a", "b"])
    with pytest.raises(KeyError):
        x["c"]
    with pytest.raises(TypeError, match="say which state"):
        p.at_most_one(x, x)


def test_files(tmp_path):
    path = tmp_path / "rain.json"
    path.write_text('{"variables": [{"name": "rain", "score": 1}, {"name": "umbrella", "score": -0.4}],'
                    ' "factors": [{"kind": "implies", "over": ["rain", "umbrella"]}]}')
    p = consonant.Problem.read(path)
    assert p.solve()[p["umbrella"]] is True
    with pytest.raises(consonant.ProblemError, match="rain"):
        consonant.Problem.parse("{", "rain.json")
    proof = tmp_path / "rain.proof"
    p.solve().certificate.save(proof)
    assert "consonant_proof" in proof.read_text()


def test_costs_are_told_as_costs():
    p = consonant.Problem.parse('{"minimize": true, "variables": [{"name": "a", "score": 1}, {"name": "b", "score": 2}],'
                                ' "factors": [{"kind": "at-least-one", "over": ["a", "b"]}]}', "costs.json")
    s = p.solve(trace=True)
    assert (s.value, s.bound, s.certificate.value, s.certificate.bound) == (1, 1, 1, 1)
    assert s.certificate.verify() and s.assignment == {"a": True, "b": False}
    assert (s.trace[:, 2] >= 0).all()


def test_what_is_known_the_next_best_and_why():
    p = consonant.Problem()
    a, b = p.binary("a", 2.0), p.binary("b", 1.0)
    x = p.variable("x", ["l", "r"], scores=[0.0, 0.5])
    p.at_most_one(a, b)
    best = p.n_best(3)
    assert [round(s.value, 9) for s in best] == [2.5, 2.0, 1.5] and all(s.certificate.verify() for s in best)
    assert [s.value for s in p.n_best(9, different_by=3)] == [2.5, 1.0]
    told = p.explain()
    assert told["status"] == "optimal" and told["otherwise"]["x"] == {"state": "r", "instead": "l", "loss": 0.5, "status": "optimal"}
    p.fix(b)
    p.forbid("x=r")
    s = p.solve()
    assert (s[a], s[b], s[x], s.value) == (False, True, "l", 1.0)
    p.fix("a")
    told = p.explain()
    assert told["status"] == "infeasible" and told["conflict"]["verified"] and told["conflict"]["smallest"]
    assert len(told["conflict"]["constraints"]) == 3 and p.n_best(2) == []
    for wrong in ("c", "x", "x=q"):
        with pytest.raises(consonant.ProblemError):
            p.fix(wrong)
    with pytest.raises(consonant.UsageError):
        p.n_best(0)


def test_a_log_is_linked():
    log = consonant.link("[10:03] <anna> which modem?\n[10:04] <bob> anna: the blue one\n", threads=1)
    assert log.links == [(1, 0)] and log._repr_svg_().startswith("<svg") and log.messages[1]["author"] == "bob"
    again = consonant.link({"id": "t", "units": log.messages})
    assert again.links == log.links and "2 messages" in repr(again)
    with pytest.raises(consonant.Error):
        consonant.link("{")
