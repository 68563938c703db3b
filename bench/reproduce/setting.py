"""What the experiments share: running our program and CRFsuite, and their processor time."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent
VENV = BENCH / ".venv"
PLAIN = BENCH / "templates" / "plain.template"
EPOCH = re.compile(r"epoch +(\d+) .*?(?:dev ([\d.]+)%)?  [\d.]+ s$")


@dataclass
class Training:
    """A finished training of ours."""

    seconds: float  # processor time of the whole program: reading, features, dev evaluation and writing the model included
    epochs: int
    accuracies: list  # on dev, after each epoch
    labels: int
    model: Path


class Setting:
    def __init__(self, binary, data, scratch, figure, treebank):
        self.binary, self.data, self.scratch = binary, data, scratch
        self.figure, self.treebank = figure, treebank

    def consonant(self, *arguments):
        """Runs our program on one thread: (processor seconds, standard output, standard error)."""
        return run([self.binary, *arguments, "--threads", 1], self.scratch)

    def train(self, train, column, algorithm, *more, dev=None, template=PLAIN):
        """Trains a tagger of first order with weights for observed pairs of feature and label, as CRFsuite does."""
        say(f"{Path(train).stem} {column}: {algorithm} {' '.join(map(str, more))}")
        model = self.scratch / "chain.model"
        arguments = ["--train", train, "--model", model, "--column", column, "--order", 1, "--template", template, "--weights", "observed"]
        # Neither the papers nor CRFsuite share weights between labels or look at documents.
        arguments += ["--parts", "off", "--documents", "off"]
        if dev is not None:
            arguments += ["--dev", dev]
        seconds, _, messages = self.consonant("train", "tagger", *arguments, "--algorithm", algorithm, *more)
        epochs = [found for found in map(EPOCH.match, messages.splitlines()) if found]
        labels = int(re.search(r"^(\d+) labels", messages, re.MULTILINE)[1])
        return Training(seconds, len(epochs), [float(found[2]) for found in epochs if found[2]], labels, model)

    def predict(self, model, source, name):
        output = self.scratch / name
        self.consonant("predict", "--model", model, source, "--output", output)
        return output

    def evaluate(self, what, gold, predicted, *more):
        return json.loads(self.consonant("evaluate", what, gold, predicted, "--format", "json", *more)[1])

    def crfsuite(self, train, dev, column, algorithm, iterations):
        """Accuracy and processor time after each iteration of CRFsuite, and the accuracy of the last model on unknown words."""
        python = VENV / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        if not any(VENV.glob("lib/python*/site-packages/pycrfsuite")):
            subprocess.run([python, "-m", "pip", "install", "--quiet", "python-crfsuite"], check=True)
        say(f"{Path(train).stem} {column}: CRFsuite {algorithm}, {iterations} iterations")
        return json.loads(run([python, "-B", HERE / "crfsuite_epochs.py", train, dev, column, algorithm, iterations], self.scratch)[1])


def run(command, scratch):
    """Runs a command to its end. Processor time is what the papers report, and what other work on the machine disturbs least."""
    command = [str(word) for word in command]
    with open(scratch / "output", "w+", encoding="utf-8") as output, open(scratch / "messages", "w+", encoding="utf-8") as messages:
        process = subprocess.Popen(command, stdout=output, stderr=messages, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        messages.seek(0)
        said = messages.read()
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{said}")
        return usage.ru_utime + usage.ru_stime, output.read(), said


def sentences(path):
    """The blocks of a CoNLL-U file or a file of columns."""
    return [block for block in path.read_text(encoding="utf-8").split("\n\n") if block.strip()]


def write(path, blocks):
    path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    return path


def table(head, rows):
    """Prints a Markdown table, its first column to the left."""
    print("|", " | ".join(head), "|")
    print("|---|" + "--:|" * (len(head) - 1))
    for row in rows:
        print("|", " | ".join(row), "|", flush=True)
    print(flush=True)


def say(text):
    print(f"chains: {text}", file=sys.stderr, flush=True)
