import pickle

import pytest

import consonant

X = [[{"w": f"w{(i * 7 + j) % 11}", "b": 1.0, "cap": j % 2 == 0} for j in range(5)] for i in range(40)]
y = [["A" if (i * 7 + j) % 11 < 5 else "B" for j in range(5)] for i in range(40)]


def test_what_sklearn_crfsuite_has():
    crf = consonant.CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    assert crf.fit(X, y) is crf
    assert crf.predict(X) == y and crf.predict_single(X[0]) == y[0] and crf.score(X, y) == 1.0
    assert crf.classes_ == ["A", "B"]
    marginals = crf.predict_marginals(X)
    assert all(abs(sum(item.values()) - 1) < 1e-6 for item in marginals[0])
    assert crf.predict_marginals_single(X[0]) == marginals[0]
    assert crf.state_features_[("w:w0", "A")] > 0 and ("A", "B") in crf.transition_features_
    assert "w:w0" in crf.attributes_ and len(crf.training_log_) > 1
    again = pickle.loads(pickle.dumps(crf))
    assert again.predict(X) == y and again.state_features_ == crf.state_features_ and again.c1 == 0.1


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow", "likelihood", "piecewise-pseudo-perceptron"])
def test_every_algorithm(algorithm):
    crf = consonant.CRF(algorithm=algorithm, max_iterations=20).fit(X, y)
    assert crf.score(X, y) > 0.95


def test_every_kind_of_feature():
    items = [{"a": "x", "n": 2, "f": 0.5, "t": True, "s": {"p", "q"}, "d": {"k": "v", "m": 1.5}}, ["plain", "names"]]
    crf = consonant.CRF(max_iterations=5, all_possible_states=True).fit([items], [["A", "B"]])
    assert set(crf.attributes_) == {"a:x", "n", "f", "t", "s:p", "s:q", "d:k:v", "d:m", "plain", "names"}
    with pytest.raises(TypeError, match="expected a string"):
        crf.predict([[{"a": object()}]])


@pytest.mark.parametrize(
    "settings",
    [
        {"algorithm": "lbfgs", "linesearch": "MoreThuente", "max_linesearch": 20, "num_memories": 4, "keep_tempfiles": False},
        {"algorithm": "pa", "pa_type": 2, "c": 0.5, "error_sensitive": False, "averaging": True, "epsilon": 0.0},
        {"algorithm": "arow", "variance": 2.0, "gamma": 0.5},
    ],
)
def test_every_parameter_of_crfsuite(settings):
    crf = consonant.CRF(max_iterations=20, **settings).fit(X, y, X[:2], y[:2])
    assert crf.score(X, y) > 0.95 and crf.num_attributes_ == len(crf.attributes_) and crf.size_ > 100
    sklearn_crfsuite, metrics = pytest.importorskip("sklearn_crfsuite"), pytest.importorskip("sklearn_crfsuite.metrics")
    ours, theirs = consonant.CRF().get_params(), sklearn_crfsuite.CRF().get_params()
    assert set(theirs) <= set(ours)
    assert metrics.flat_f1_score(y, crf.predict(X), average="weighted") > 0.95
    assert "A" in metrics.flat_classification_report(y, crf.predict(X))


@pytest.mark.parametrize("setting", [{"linesearch": "Backtracking"}, {"calibration_eta": 0.1}, {"model_filename": "crf.model"}])
def test_what_is_crfsuites_alone_is_refused(setting):
    with pytest.raises(consonant.UsageError, match="CRFsuite's own"):
        consonant.CRF(**setting).fit(X, y)


@pytest.mark.parametrize("algorithm", ["lbfgs", "ap"])
def test_threads_change_nothing(algorithm):
    one, two = (consonant.CRF(algorithm=algorithm, max_iterations=5, threads=threads).fit(X, y) for threads in (1, 2))
    assert one.state_features_ == two.state_features_ and one.transition_features_ == two.transition_features_
    many = X * 40
    assert one.predict(many) == two.predict(many) and one.predict_marginals(many) == two.predict_marginals(many)
    with pytest.raises(consonant.UsageError, match="threads"):
        one.set_params(threads=0).predict(X)


def test_a_dictionary_that_changes_while_it_is_read():
    class Names(list):
        def __iter__(self):
            item["more"] = "entries"
            return super().__iter__()

    item = {"a": Names(["b"]), "c": "d"}
    with pytest.raises(RuntimeError, match="changed"):
        consonant.CRF().fit([[item]], [["A"]])


def test_marginals_against_enumeration():
    import itertools
    import math

    crf = consonant.CRF(c2=0.1, max_iterations=30).fit(X, y)
    states, pairs = crf.state_features_, crf.transition_features_
    sequence = [{"w": "w1"}, {"w": "w9"}, {"w": "w4"}]
    weights = {}
    for path in itertools.product(crf.classes_, repeat=3):
        score = sum(states.get((f"w:{item['w']}", label), 0.0) for item, label in zip(sequence, path))
        weights[path] = math.exp(score + sum(pairs[pair] for pair in zip(path, path[1:])))
    total = sum(weights.values())
    found = crf.predict_marginals_single(sequence)
    for position, label in itertools.product(range(3), crf.classes_):
        expected = sum(weight for path, weight in weights.items() if path[position] == label) / total
        assert found[position][label] == pytest.approx(expected, abs=1e-5)


def test_sklearn_knows_it():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer

    crf = consonant.CRF(algorithm="likelihood", c2=0.1, max_iterations=30)
    assert clone(crf).get_params() == crf.get_params()
    assert cross_val_score(clone(crf), X, y, cv=3).mean() > 0.95
    search = GridSearchCV(crf, {"c2": [0.01, 1.0]}, cv=2, n_jobs=2).fit(X, y)
    assert search.best_params_["c2"] in (0.01, 1.0)
    words = FunctionTransformer(lambda X: [[{"w": item["w"]} for item in sequence] for sequence in X])
    assert Pipeline([("words", words), ("crf", crf)]).fit(X, y).predict(X[:2]) == y[:2]


@pytest.mark.parametrize("all_states", [False, True])
def test_the_same_weights_as_crfsuite(all_states):
    sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
    settings = dict(algorithm="lbfgs", c1=0.0, c2=0.5, max_iterations=200, all_possible_transitions=True, all_possible_states=all_states)
    theirs = sklearn_crfsuite.CRF(**settings).fit(X, y)
    ours = consonant.CRF(**settings).fit(X, y)
    assert [list(path) for path in theirs.predict(X)] == ours.predict(X)
    assert set(ours.state_features_) <= set(theirs.state_features_) and set(ours.transition_features_) == set(theirs.transition_features_)
    for feature, weight in theirs.state_features_.items():
        assert ours.state_features_.get(feature, 0.0) == pytest.approx(weight, abs=0.02)
    for item, expected in zip(ours.predict_marginals_single(X[0]), theirs.predict_marginals_single(X[0])):
        assert item["A"] == pytest.approx(expected["A"], abs=0.005)


def test_wrong_data():
    with pytest.raises(consonant.UsageError, match="equally long"):
        consonant.CRF().fit(X, [labels[:-1] for labels in y])
    with pytest.raises(consonant.UsageError, match="no algorithm"):
        consonant.CRF(algorithm="magic").fit(X, y)
    with pytest.raises(consonant.UsageError, match="no parameter"):
        consonant.CRF(algorithm="ap", c1=1.0).fit(X, y)
    with pytest.raises(consonant.UsageError, match="learned nothing"):
        consonant.CRF().predict(X)
    with pytest.raises(consonant.Error):
        consonant.CRF().fit([], [])
    with pytest.raises(consonant.UsageError, match="no parameter"):
        consonant.CRF().set_params(c3=1)
