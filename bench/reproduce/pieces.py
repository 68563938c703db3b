"""Table 1 of McCallum & Sutton (2004): a Markov model of local steps (MEMM), a CRF, and a CRF trained in pieces with NOTA (CRF-PT)."""

from random import Random

from setting import HERE, sentences, table, write

SENTENCES = 1154  # as in the paper, drawn at random
STEP = 2  # every second training sentence of the names
PAIR_STEP = 8  # and every eighth where features see pairs of labels, which takes seven times the weights
ITERATIONS = 200
PAIR_ITERATIONS = 60
MODELS = {"MEMM": ["memm"], "CRF": ["likelihood"]}
THRESHOLD, EXHAUSTIVE = ["piecewise-nota", "-P", "negatives=2"], ["piecewise-nota", "-P", "negatives=0"]
# The paper's choice for the task comes first.
TAGGING = MODELS | {
    "CRF-PT, NOTA above 0.2, local decoding": THRESHOLD + ["-P", "decode=0"],
    "CRF-PT, NOTA above 0.2, global decoding": THRESHOLD + ["-P", "decode=2"],
    "CRF-PT, every NOTA, local decoding": EXHAUSTIVE + ["-P", "decode=0"],
}
NAMES = MODELS | {
    "CRF-PT, every NOTA, learned scales": EXHAUSTIVE + ["-P", "decode=1"],
    "CRF-PT, every NOTA, local decoding": EXHAUSTIVE + ["-P", "decode=0"],
    "CRF-PT, NOTA above 0.2, local decoding": THRESHOLD + ["-P", "decode=0"],
}
BY_PAIR = MODELS | {
    "CRF-PT, every NOTA, learned scales": EXHAUSTIVE + ["-P", "decode=1"],
    "CRF-PT, every NOTA, global decoding": EXHAUSTIVE + ["-P", "decode=2"],
    "CRF-PT, every NOTA, local decoding": EXHAUSTIVE + ["-P", "decode=0"],
}


def run(setting):
    tagging(setting)
    print("### Names: ner/english-ewt, every second sentence\n")
    names(setting, NAMES, STEP, HERE / "names.template", ITERATIONS)


def run_pairs(setting):
    """Names once more, with features that have a weight for each pair of labels, as in the paper, and without."""
    single = HERE / "names.template"
    pairs = setting.scratch / "pairs.template"
    pairs.write_text(single.read_text(encoding="utf-8").replace("\nU", "\n*"), encoding="utf-8")
    for features, template in {"single labels": single, "pairs of labels": pairs}.items():
        print(f"### Names, every eighth sentence, features over {features}\n")
        names(setting, BY_PAIR, PAIR_STEP, template, PAIR_ITERATIONS)


def tagging(setting):
    folder = setting.data / "ud" / "English-EWT"
    every, dev = sentences(folder / "train.conllu"), folder / "dev.conllu"
    chosen = sorted(Random(1).sample(range(len(every)), SENTENCES))
    train = write(setting.scratch / "sample.conllu", [every[at] for at in chosen])

    def scores(model, name):
        predicted = setting.predict(model, dev, name)
        seen = setting.predict(model, train, "seen.conllu")
        accuracy = lambda gold, found: 100 * setting.evaluate("tags", gold, found, "--column", "xpos")["accuracy"]
        return predicted, accuracy(train, seen), accuracy(dev, predicted)

    def against(this, other):
        return setting.evaluate("tags", dev, this, "--column", "xpos", "--against", other)["against"]["accuracy"]

    print(f"### Part of speech: English-EWT, XPOS, {SENTENCES:,} sentences\n")
    compare(setting, TAGGING, train, None, "accuracy", scores, against)


def names(setting, models, step, template, iterations):
    folder = setting.data / "ner" / "english-ewt"
    train, dev = (setting.scratch / f"names-{part}.conllu" for part in ("train", "dev"))
    cut = write(setting.scratch / "names-train.tsv", sentences(folder / "train.tsv")[::step])
    gold = {train: cut, dev: folder / "dev.tsv"}
    for treebank, columns in gold.items():
        write(treebank, map(to_conllu, sentences(columns)))

    def labelled(model, treebank, name):
        predicted = setting.predict(model, treebank, "names.conllu")
        return write(setting.scratch / name, map(to_columns, sentences(predicted)))

    def scores(model, name):
        predicted = labelled(model, dev, name)
        seen = labelled(model, train, "seen.tsv")
        f1 = lambda treebank, found: 100 * setting.evaluate("entities", gold[treebank], found)["f1"]
        return predicted, f1(train, seen), f1(dev, predicted)

    def against(this, other):
        return setting.evaluate("entities", gold[dev], this, "--against", other)["against"]["f1"]

    compare(setting, models, train, template, "F1", scores, against, iterations)


def compare(setting, models, train, template, measure, scores, against, iterations=ITERATIONS):
    rows, predictions = [], {}
    chosen = {"template": template} if template else {}
    for at, (name, algorithm) in enumerate(models.items()):
        trained = setting.train(train, "xpos", *algorithm, "--epochs", iterations, **chosen)
        predictions[name], seen, unseen = scores(trained.model, f"{at}.predicted")
        rows.append([name, f"{seen:.2f}", f"{unseen:.2f}", str(trained.epochs), f"{trained.seconds:.1f}"])
    table(["model", f"{measure} on train", f"{measure} on dev", "it.", "CPU s"], rows)
    paper = list(models)[2]
    for other in MODELS:
        compared = against(predictions[paper], predictions[other])
        print(f"{paper} against {other}: {100 * compared['difference']['value']:+.2f}, p = {compared['p_value']:.3f}. ", end="")
    print("\n", flush=True)


def to_conllu(block):
    """`token<TAB>label` lines as words whose XPOS is the label."""
    pairs = (line.split("\t") for line in block.strip("\n").split("\n"))
    return "\n".join(f"{place}\t{word}\t_\t_\t{label}\t_\t_\t_\t_\t_" for place, (word, label) in enumerate(pairs, 1))


def to_columns(block):
    cells = (line.split("\t") for line in block.strip("\n").split("\n") if not line.startswith("#"))
    return "\n".join(f"{cell[1]}\t{cell[4]}" for cell in cells)
