"""Large label sets: how training and decoding grow with the number of labels."""

from harness import generate
from harness.environment import say
from harness.measure import Side, interleave
from harness.table import Plot, Row

from .crf import epoch_seconds, tag, train_tagger

SUMMARY = "taggers with many labels against CRFsuite: growth from 10 to 3,000, Estonian and Slovak"
PEERS = ["python-crfsuite"]

LABELS = (10, 30, 100, 300, 1000, 3000)
MOST_FOR_CRFSUITE = 1000  # quadratic: it would take minutes beyond
FAST = ["pseudo-perceptron", "piecewise-pseudo-perceptron", "beam-early-update"]


def compare(environment, result):
    if not environment.has("python-crfsuite"):
        return
    grow(environment, result)
    if environment.data is None:
        result.skipped.append("Estonian and Slovak need the treebanks: give --data DIR or set CONSONANT_DATA")
        return
    treebank(environment, result, "Estonian-EDT", "upos+feats", epochs=3)
    treebank(environment, result, "Slovak-SNK", "xpos", epochs=2)


def grow(environment, result):
    """Generated text of 10,000 tokens with more and more labels; an epoch of each algorithm, and decoding."""
    training, decoding = {}, {}
    for labels in LABELS:
        say(f"labels: {labels:,}")
        train = generate.tagged_text(environment.scratch / "labels-train.conllu", labels, 500, seed=11)
        dev = generate.tagged_text(environment.scratch / "labels-dev.conllu", labels, 250, seed=12)
        epochs, rates, accuracies = {}, {}, {}
        for algorithm in FAST:
            model = environment.scratch / "labels.model"
            run = train_tagger(environment, train, model, "xpos", algorithm, 4)
            epochs[algorithm] = epoch_seconds(run)
            rates[algorithm], accuracies[algorithm] = tag(environment, model, dev, "xpos")
        if labels <= MOST_FOR_CRFSUITE:
            with environment.worker("crfsuite.py", train, dev, "xpos") as crfsuite:
                model = str(environment.scratch / "labels.crfsuite")
                trained = crfsuite.ask(do="train", algorithm="ap", iterations=4 if labels <= 300 else 2, model=model)
                tagged = crfsuite.ask(do="tag", model=model)
            epochs["CRFsuite ap"] = trained["iteration"]
            rates["CRFsuite ap"], accuracies["CRFsuite ap"] = tagged["tokens"] / tagged["seconds"], tagged["accuracy"]
        for algorithm in epochs:
            training.setdefault(algorithm, []).append((labels, epochs[algorithm]))
            decoding.setdefault(algorithm, []).append((labels, rates[algorithm]))
        side = lambda values, who: Side([values[who]], f"{100 * accuracies[who]:.1f}%")
        peers = [who for who in epochs if who not in FAST]
        fast = "piecewise-pseudo-perceptron"
        result.rows.append(Row(f"{labels:,} labels, {fast}, an epoch", side(epochs, fast), {who: side(epochs, who) for who in peers}))
        result.rows.append(Row(f"{labels:,} labels, decoding", side(rates, fast), {who: side(rates, who) for who in peers}, "tokens/s"))
    for algorithm, points in training.items():
        growth = points[-1][1] / points[0][1]
        result.notes.append(f"{algorithm}: an epoch takes {growth:.1f} times as long with {points[-1][0]:,} labels as with {points[0][0]}")
    result.notes.append("CRFsuite learns for two epochs only at 1,000 labels, and is left out at 3,000: it would take minutes")
    result.plots.append(Plot("An epoch over 10,000 tokens", "labels", "seconds", training))
    result.plots.append(Plot("Decoding, one thread", "labels", "tokens a second", decoding))


def treebank(environment, result, name, column, epochs):
    """Every fourth sentence of a treebank with a large tag set: piecewise-pseudo-perceptron against the averaged perceptron of CRFsuite."""
    say(f"labels: {name}")
    folder, train = environment.data / "ud" / name, environment.scratch / f"{name}.conllu"
    every(folder / "train.conllu", train, 4)
    dev = environment.scratch / f"{name}-dev.conllu"
    every(folder / "dev.conllu", dev, 4)
    model, their_model = environment.scratch / f"{name}.model", str(environment.scratch / f"{name}.crfsuite")
    with environment.worker("crfsuite.py", train, dev, column) as crfsuite:

        def ours():
            run = train_tagger(environment, train, model, column, "piecewise-pseudo-perceptron", epochs)
            return epoch_seconds(run), run

        def theirs():
            answer = crfsuite.ask(do="train", algorithm="ap", iterations=epochs, model=their_model)
            return answer["iteration"], answer

        def decode():
            answer = crfsuite.ask(do="tag", model=their_model)
            return answer["tokens"] / answer["seconds"], answer["accuracy"]

        learned, _ = interleave({"ours": ours, "theirs": theirs}, environment.repeat, budget=60)
        decoded, accuracies = interleave({"ours": lambda: tag(environment, model, dev, column), "theirs": decode}, environment.repeat, budget=60)
    answer = {who: f"{100 * accuracy:.2f}% on dev after {epochs} epochs" for who, accuracy in accuracies.items()}
    peer, what = "CRFsuite ap", f"{name} {column}, every 4th sentence"
    result.rows.append(Row(f"{what}: piecewise-pseudo-perceptron, an epoch", Side(learned["ours"], answer["ours"]), {peer: Side(learned["theirs"], answer["theirs"])}))
    result.rows.append(Row(f"{what}: decoding", Side(decoded["ours"], answer["ours"]), {peer: Side(decoded["theirs"], answer["theirs"])}, "tokens/s"))


def every(source, target, step):
    """Copies every `step`-th sentence."""
    sentences = source.read_text(encoding="utf-8").split("\n\n")
    kept = [sentence for sentence in sentences[::step] if sentence.strip()]
    target.write_text("\n\n".join(kept) + "\n\n", encoding="utf-8")
