"""CRFsuite as a worker: `crfsuite.py TRAIN DEV COLUMN` reads CoNLL-U once, then answers one JSON request a line.

Requests: {"do": "train", "algorithm": ap|pa|lbfgs, "iterations": N, "model": FILE} and {"do": "tag", "model": FILE}. The features are those of
`bench/templates/plain.template`. The clock runs around CRFsuite alone: words have been turned into features before, in training and tagging.
"""

import json
import re
import sys
import time

import pycrfsuite

TESTS = [("U06", re.compile("-")), ("U07", re.compile("[A-Z]")), ("U08", re.compile("[0-9]"))]


def read(path, column):
    """Sentences as (words, labels)."""
    sentences, words, labels = [], [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if not line:
                if words:
                    sentences.append((words, labels))
                words, labels = [], []
            elif not line.startswith("#"):
                cells = line.split("\t")
                if cells[0].isdigit():
                    words.append(cells[1])
                    labels.append({"xpos": cells[4], "upos": cells[3], "upos+feats": f"{cells[3]}|{cells[5]}"}[column])
    return sentences


def features(words):
    """What the template says, as strings."""
    padded = ["_B-2", "_B-1", *words, "_B+1", "_B+2"]
    made = []
    for place, word in enumerate(words):
        own = [f"U0{offset}:{padded[place + offset]}" for offset in range(5)]
        own += [f"U05.{size}:{word[-size:]}" for size in range(1, min(4, len(word)) + 1)]
        own += [f"{name}:{'true' if test.search(word) else 'false'}" for name, test in TESTS]
        made.append(own)
    return made


class StampedTrainer(pycrfsuite.Trainer):
    """Notes when each iteration ends: CRFsuite's own log has processor time, which cannot stand beside our clock."""

    def message(self, message):
        if self.logparser.feed(message) == "iteration":
            self.moments.append(time.perf_counter())


class Worker:
    def __init__(self, train, dev, column):
        self.trainer = StampedTrainer("ap", verbose=False)
        for words, labels in read(train, column):
            self.trainer.append(features(words), labels)
        self.dev = [(pycrfsuite.ItemSequence(features(words)), labels) for words, labels in read(dev, column)]

    def train(self, algorithm, iterations, model):
        self.trainer.select(algorithm)
        self.trainer.set("max_iterations", iterations)
        if algorithm != "lbfgs":
            self.trainer.set("epsilon", 0)  # all iterations, as on our side
        else:
            self.trainer.set("delta", 0)
        self.trainer.moments = []
        start = time.perf_counter()
        self.trainer.train(model)
        seconds = time.perf_counter() - start
        moments = self.trainer.moments
        return {"seconds": seconds, "iteration": (moments[-1] - moments[0]) / (len(moments) - 1) if len(moments) > 1 else None}

    def tag(self, model):
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        start = time.perf_counter()
        tagged = [tagger.tag(items) for items, _ in self.dev]
        seconds = time.perf_counter() - start
        pairs = [pair for found, (_, labels) in zip(tagged, self.dev) for pair in zip(found, labels)]
        return {"seconds": seconds, "tokens": len(pairs), "accuracy": sum(found == gold for found, gold in pairs) / len(pairs)}


if __name__ == "__main__":
    worker = Worker(*sys.argv[1:4])
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(worker, {"train": "train", "tag": "tag"}[request.pop("do")])(**request)
        print(json.dumps(answer), flush=True)
