"""Parsing: orders 1 to 3 against UDPipe, trained on the same part of English-EWT in the same run."""

import json

from harness.environment import say
from harness.measure import Side, interleave
from harness.table import Row

from .labels import every

SUMMARY = "dependency parsers on English-EWT from gold tags against UDPipe 1, trained on the same sentences, one thread"
PEERS = ["ufal.udpipe"]

STEP = 12  # every twelfth sentence: UDPipe learns some eight hundred words a second
EPOCHS = 5


def compare(environment, result):
    if environment.data is None:
        result.skipped.append("all of it needs the treebank: give --data DIR or set CONSONANT_DATA")
        return
    folder = environment.data / "ud" / "English-EWT"
    train, dev = environment.scratch / "parse-train.conllu", environment.scratch / "parse-dev.conllu"
    every(folder / "train.conllu", train, STEP)
    every(folder / "dev.conllu", dev, 2)
    models, training = {}, {}
    for order in (1, 2, 3):
        say(f"parse: training order {order}")
        models[order] = environment.scratch / f"parser-{order}.model"
        run = environment.consonant("train", "parser", "--train", train, "--model", models[order], "--order", order, "--epochs", EPOCHS, "--threads", 1)
        training[order] = (run.seconds, f"{models[order].stat().st_size / 1e6:.1f} MB model, {run.megabytes:.0f} MB memory")
    sides = {order: lambda order=order: parse(environment, models[order], dev) for order in models}
    peer = "UDPipe 1"
    theirs = {}
    if environment.has("ufal.udpipe"):
        with environment.worker("udpipe.py", train, dev) as udpipe:
            say("parse: UDPipe learns")
            learned = udpipe.ask(do="train", iterations=EPOCHS)
            theirs = {peer: Side([learned["seconds"]], f"{learned['bytes'] / 1e6:.1f} MB model")}
            samples, answers = interleave(sides | {peer: lambda: ask(environment, udpipe, dev)}, environment.repeat)
    else:
        samples, answers = interleave(sides, environment.repeat)
    for order, (seconds, answer) in training.items():
        result.rows.append(Row(f"order {order}, training for {EPOCHS} epochs", Side([seconds], answer), theirs))
    for order in models:
        peers = {peer: Side(samples[peer], answers[peer])} if theirs else {}
        result.rows.append(Row(f"order {order}, parsing", Side(samples[order], answers[order]), peers, "tokens/s"))
    result.notes.append(f"trained on every {STEP}th sentence, measured on every second sentence of dev; punctuation counts")
    result.notes.append("our times of parsing include features, pruning and labels; our times of training, the whole program and the pruner's training")


def parse(environment, model, gold):
    """Tokens a second on one thread, and how good and how certain the trees are."""
    output, report = environment.scratch / "parsed.conllu", environment.scratch / "parsed.json"
    environment.consonant("predict", "--model", model, gold, "--output", output, "--report", report, "--threads", 1)
    total = json.loads(report.read_text())["total"]
    return total["tokens_per_second"], f"{accuracy(environment, gold, output)}, {100 * total['optimal'] / total['units']:.1f}% proven"


def ask(environment, udpipe, gold):
    output = environment.scratch / "udpipe.conllu"
    answer = udpipe.ask(do="parse", output=str(output))
    return answer["tokens"] / answer["seconds"], accuracy(environment, gold, output)


def accuracy(environment, gold, parsed):
    scores = json.loads(environment.consonant("evaluate", "trees", gold, parsed, "--format", "json").output)
    return f"UAS {100 * scores['UAS']['f1']:.2f} LAS {100 * scores['LAS']['f1']:.2f}"
