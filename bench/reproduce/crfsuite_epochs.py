"""CRFsuite, watched epoch by epoch: `crfsuite_epochs.py TRAIN DEV COLUMN ALGORITHM ITERATIONS` prints one JSON object.

The dev set is CRFsuite's holdout group, so that one training shows the accuracy after every iteration. Times are processor time
since the features were in its memory, and include that evaluation. The features are those of bench/templates/plain.template.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))

import pycrfsuite  # noqa: E402
from crfsuite import features, read  # noqa: E402  (bench/peers)


class WatchedTrainer(pycrfsuite.Trainer):
    """Notes the processor time at the end of each iteration."""

    moments = ()

    def message(self, message):
        if self.logparser.feed(message) == "iteration":
            self.moments.append(time.process_time())


def main(train, dev, column, algorithm, iterations):
    train, dev = read(train, column), read(dev, column)
    known_words = {word for words, _ in train for word in words}
    known_labels = {label for _, labels in train for label in labels}
    trainer = WatchedTrainer(algorithm, {"max_iterations": int(iterations)}, verbose=False)
    trainer.set(*(("delta", 0) if algorithm == "lbfgs" else ("epsilon", 0)))  # the caller stops, by accuracy on dev
    for words, labels in train:
        trainer.append(features(words), labels, 0)
    for words, labels in dev:
        # A dev label that training lacks would make CRFsuite's label set larger, once for each: all of them are one.
        trainer.append(features(words), [label if label in known_labels else "?" for label in labels], 1)
    trainer.moments = []
    start = time.process_time()
    with tempfile.NamedTemporaryFile() as model:
        trainer.train(model.name, holdout=1)
        tagger = pycrfsuite.Tagger()
        tagger.open(model.name)
        unknown = [
            found == label
            for words, labels in dev
            for found, label, word in zip(tagger.tag(features(words)), labels, words)
            if word not in known_words
        ]
    epochs = [
        {"seconds": moment - start, "accuracy": 100 * iteration["item_accuracy_float"]}
        for moment, iteration in zip(trainer.moments, trainer.logparser.iterations)
    ]
    print(json.dumps({"epochs": epochs, "unknown": 100 * sum(unknown) / len(unknown) if unknown else None}))


if __name__ == "__main__":
    main(*sys.argv[1:])
