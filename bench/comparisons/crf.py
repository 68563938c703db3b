"""Tagging: training and decoding English-EWT XPOS against CRFsuite, on the same plain features."""

import json
import re

from harness.environment import BENCH, say
from harness.measure import Side, interleave
from harness.table import Row

SUMMARY = "training and decoding taggers on English-EWT XPOS against CRFsuite, same features, one thread"
PEERS = ["python-crfsuite"]

TEMPLATE = BENCH / "templates" / "plain.template"
# Our name, CRFsuite's name, iterations, and rounds at most.
ALGORITHMS = [("averaged-perceptron", "ap", 10, 3), ("passive-aggressive", "pa", 10, 2), ("likelihood", "lbfgs", 20, 1)]


def compare(environment, result):
    if environment.data is None:
        result.skipped.append("all of it needs the treebank: give --data DIR or set CONSONANT_DATA")
        return
    if not environment.has("python-crfsuite"):
        return
    folder = environment.data / "ud" / "English-EWT"
    train, dev = folder / "train.conllu", folder / "dev.conllu"
    with environment.worker("crfsuite.py", train, dev, "xpos") as crfsuite:
        for ours, theirs, iterations, rounds in ALGORITHMS:
            say(f"crf: {ours}")
            learn(environment, result, crfsuite, train, dev, ours, theirs, iterations, min(rounds, environment.repeat))
        decode(environment, result, crfsuite, train, dev)
    result.notes.append(
        "our times of training are those of the whole program (reading, feature extraction, writing the model); "
        "CRFsuite's begin when the features are in its memory"
    )
    result.notes.append("decoding: ours includes the extraction of features from words; CRFsuite's begins when the features have been made")


def learn(environment, result, crfsuite, train, dev, ours, theirs, iterations, rounds):
    """Whole training runs, what an iteration takes, and the accuracy on dev."""
    model, their_model = environment.scratch / f"{ours}.model", environment.scratch / f"{theirs}.crfsuite"
    steps = {"ours": [], "two": [], "theirs": []}

    def train_ours(who, threads):
        run = train_tagger(environment, train, model, "xpos", ours, iterations, threads)
        steps[who].append(epoch_seconds(run))
        return run.seconds, run

    def train_theirs():
        answer = crfsuite.ask(do="train", algorithm=theirs, iterations=iterations, model=str(their_model))
        steps["theirs"].append(answer["iteration"])
        return answer["seconds"], answer

    sides = {"ours": lambda: train_ours("ours", 1), "theirs": train_theirs}
    if ours == "likelihood":
        sides["two"] = lambda: train_ours("two", 2)
    samples, answers = interleave(sides, rounds)
    _, accuracy = tag(environment, model, dev, "xpos")
    answer = f"{100 * accuracy:.2f}% on dev, {answers['ours'].megabytes:.0f} MB"
    their_answer = f"{100 * crfsuite.ask(do='tag', model=str(their_model))['accuracy']:.2f}% on dev"
    peer = f"CRFsuite {theirs}"
    result.rows.append(Row(f"{ours}, {iterations} iterations", Side(samples["ours"], answer), {peer: Side(samples["theirs"], their_answer)}))
    result.rows.append(Row(f"{ours}, an iteration", Side(steps["ours"]), {peer: Side(steps["theirs"])}))
    if "two" in sides:
        result.rows.append(Row(f"{ours}, an iteration, 2 threads", Side(steps["two"]), {f"{peer}, 1 thread": Side(steps["theirs"])}))


def decode(environment, result, crfsuite, train, dev):
    """Tokens a second on dev: plain features with the averaged perceptron's models, then our built-in templates."""
    say("crf: decoding")
    plain, theirs = environment.scratch / "averaged-perceptron.model", environment.scratch / "ap.crfsuite"
    rich = environment.scratch / "built-in.model"
    run = environment.consonant("train", "tagger", "--train", train, "--model", rich, "--column", "xpos", "--epochs", 5, "--threads", 1)
    result.notes.append(f"the tagger with built-in templates was trained for 5 epochs in {run.seconds:.1f} s")

    def ask():
        answer = crfsuite.ask(do="tag", model=str(theirs))
        return answer["tokens"] / answer["seconds"], answer["accuracy"]

    sides = {"plain": lambda: tag(environment, plain, dev, "xpos"), "theirs": ask, "rich": lambda: tag(environment, rich, dev, "xpos")}
    samples, accuracies = interleave(sides, max(5, environment.repeat))
    side = lambda who: Side(samples[who], f"{100 * accuracies[who]:.2f}% on dev")
    result.rows.append(Row("decoding, plain features", side("plain"), {"CRFsuite ap": side("theirs")}, "tokens/s"))
    result.rows.append(Row("decoding, built-in templates", side("rich"), {"CRFsuite ap, plain features": side("theirs")}, "tokens/s"))


def train_tagger(environment, train, model, column, algorithm, epochs, threads=1):
    """Trains with the plain features, first order, weights for observed pairs only: what CRFsuite does."""
    arguments = ["--train", train, "--model", model, "--column", column, "--order", 1, "--template", TEMPLATE, "--weights", "observed"]
    arguments += ["--algorithm", algorithm, "--epochs", epochs, "--threads", threads]
    if algorithm == "likelihood":  # all iterations, as on the other side
        arguments += ["--parameter", "delta=0"]
    return environment.consonant("train", "tagger", *arguments)


def epoch_seconds(run):
    """What an epoch takes, from the moments at which the program reported them."""
    times = [seconds for seconds, line in run.lines if re.match(r"epoch +\d", line)]
    return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else float("nan")


def tag(environment, model, gold, column):
    """Tokens a second (features included, reading and writing not) and accuracy of a model of ours."""
    output, report = environment.scratch / "tagged.conllu", environment.scratch / "tagged.json"
    environment.consonant("predict", "--model", model, gold, "--output", output, "--report", report, "--threads", 1)
    scores = environment.consonant("evaluate", "tags", gold, output, "--column", column, "--format", "json")
    return json.loads(report.read_text())["total"]["tokens_per_second"], json.loads(scores.output)["accuracy"]
