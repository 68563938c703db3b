"""Table 2 of Ruokolainen, Silfverberg, Kurimo & Lindén (2014): perceptrons that are linear in the number of labels."""

from setting import sentences, table, write

# Treebank, column, every how-manieth sentence, and the iterations that CRFsuite's algorithms may take at most.
TREEBANKS = [
    ("English-EWT", "xpos", 1, {"ap": 20, "pa": 20, "lbfgs": 40}),
    ("Estonian-EDT", "upos+feats", 4, {"ap": 1}),
    ("Slovak-SNK", "xpos", 4, {"ap": 1}),
]
OURS = {"PP": "pseudo-perceptron", "PW-PP": "piecewise-pseudo-perceptron", "1-best beam": "beam-early-update"}
EXACT = {"averaged perceptron": "averaged-perceptron"}  # quadratic in labels: where there are few
THEIRS = {"ap": "CRFsuite, averaged perceptron", "pa": "CRFsuite, passive-aggressive", "lbfgs": "CRFsuite, L-BFGS"}
PATIENCE = 3  # "has not increased during last three iterations"


def run(setting):
    for treebank, column, step, limits in TREEBANKS:
        if setting.treebank not in (None, treebank):
            continue
        folder = setting.data / "ud" / treebank
        train = write(setting.scratch / f"{treebank}-train.conllu", sentences(folder / "train.conllu")[::step])
        dev = write(setting.scratch / f"{treebank}-dev.conllu", sentences(folder / "dev.conllu")[::step])
        part = f", every {step}th sentence" if step > 1 else ""
        print(f"### {treebank}, {column.upper()}{part}\n")
        head = ["method", "it.", "CPU s", "s / it.", "accuracy", "unknown words"]
        kept = {}
        table(head + ([f"accuracy after it. {limits['ap']}"] if step > 1 else []), rows(setting, train, dev, column, step, limits, kept))
        ours, labels = kept.pop("PW-PP")
        print(f"{labels:,} labels in training. ", end="")
        for name, (other, _) in kept.items():
            compared = setting.evaluate("tags", dev, ours, "--column", column, "--against", other)["against"]["accuracy"]
            print(f"PW-PP against {name}: {100 * compared['difference']['value']:+.2f}, p = {compared['p_value']:.3f}. ", end="")
        print("\n", flush=True)


def rows(setting, train, dev, column, step, limits, kept):
    """The rows of a treebank, as they come; our predictions, and how many labels there were, are kept by name."""
    for name, algorithm in (OURS | EXACT if step == 1 else OURS).items():
        trained = setting.train(train, column, algorithm, "--dictionary", 1, "--epochs", 50, "--patience", PATIENCE, dev=dev)
        predicted = setting.predict(trained.model, dev, f"{algorithm}.conllu")
        kept[name] = predicted, trained.labels
        scores = setting.evaluate("tags", dev, predicted, "--column", column, "--train", train)
        first = trained.accuracies[min(limits["ap"], trained.epochs) - 1] if step > 1 else None
        yield row(name, trained.epochs, trained.seconds, 100 * scores["accuracy"], 100 * scores["unknown_accuracy"], first)
    for algorithm, limit in limits.items():
        yield theirs(setting, train, dev, column, algorithm, limit, step > 1)


def theirs(setting, train, dev, column, algorithm, limit, cut):
    """CRFsuite has no such stopping rule: it trains to the limit, and the rule is applied to what it said on the way."""
    watched = setting.crfsuite(train, dev, column, algorithm, limit)
    epochs = watched["epochs"]
    accuracies = [epoch["accuracy"] for epoch in epochs]
    best = stop = len(epochs) - 1
    if algorithm != "lbfgs":  # its accuracy falls and rises in the first iterations: the rule would end it there
        best = next(at for at in range(len(epochs)) if max(accuracies[at + 1 : at + 1 + PATIENCE], default=0) <= accuracies[at])
        stop = min(best + PATIENCE, stop)
    if best + 1 < len(epochs):  # the model of the best iteration, by the same steps in a fresh process
        watched = setting.crfsuite(train, dev, column, algorithm, best + 1)
    name = THEIRS[algorithm] + ("" if stop == best + PATIENCE else f" (limit: {limit})")
    return row(name, stop + 1, epochs[stop]["seconds"], accuracies[best], watched["unknown"], accuracies[limit - 1] if cut else None)


def row(name, epochs, seconds, accuracy, unknown, after):
    cells = [name, str(epochs), f"{seconds:.1f}", f"{seconds / epochs:.2f}", f"{accuracy:.2f}", f"{unknown:.2f}"]
    return cells + ([f"{after:.2f}"] if after is not None else [])
