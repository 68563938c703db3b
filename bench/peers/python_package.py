"""The Python package and its rivals as a worker: one JSON request a line, see bench/comparisons/python.py."""

import functools
import gc
import json
import os
import re
import subprocess
import sys
import threading
import time

import numpy

import consonant
from consonant import decode

TESTS = [("hyphen", re.compile("-")), ("upper", re.compile("[A-Z]")), ("digit", re.compile("[0-9]"))]


def read(path):
    """Sentences as (words, labels): XPOS of CoNLL-U, or the last of the columns."""
    sentences, words, labels = [], [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if not line.strip():
                if words:
                    sentences.append((words, labels))
                words, labels = [], []
            elif path.endswith(".conllu"):
                if cells[0].isdigit():
                    words.append(cells[1])
                    labels.append(cells[4])
            else:
                words.append(cells[0])
                labels.append(cells[-1])
    return sentences + ([(words, labels)] if words else [])


def features(words):
    """A word as sklearn-crfsuite's tutorial writes it: a dictionary of strings and truths."""
    padded = ["", "", *words, "", ""]
    made = []
    for place, word in enumerate(words):
        item = {f"word{offset - 2:+d}": padded[place + offset] for offset in range(5)}
        item.update({f"ends{size}": word[-size:] for size in range(1, 5)})
        item.update({name: bool(test.search(word)) for name, test in TESTS})
        item["bias"] = 1.0
        made.append(item)
    return made


@functools.lru_cache(maxsize=4)
def data(path):
    sentences = read(path)
    return [features(words) for words, _ in sentences], [labels for _, labels in sentences]


def crf(who, train, dev, algorithm, iterations):
    X, y = data(train)
    held, gold = data(dev)
    settings = {"algorithm": algorithm, "max_iterations": iterations, "all_possible_transitions": True}
    if algorithm == "lbfgs":
        settings.update(c1=0.0, c2=0.1, delta=0.0, epsilon=0.0)
    if who == "ours":
        model = consonant.CRF(**settings)
    else:
        import sklearn_crfsuite

        if algorithm == "ap":
            settings["epsilon"] = 0.0
        model = sklearn_crfsuite.CRF(**settings)
    start = time.process_time()
    model.fit(X, y)
    fitted = time.process_time()
    found = model.predict(held)
    done = time.process_time()
    right = sum(a == b for path, labels in zip(found, gold) for a, b in zip(path, labels))
    return {"fit": fitted - start, "predict": done - fitted, "accuracy": right / sum(map(len, gold))}


@functools.lru_cache(maxsize=1)
def scores(sequences, positions, labels):
    return numpy.random.default_rng(1).normal(size=(sequences, positions, labels)).astype(numpy.float32)


def names(labels):
    return ["O", *(f"{letter}-{kind}" for kind in "ABCD" for letter in "BI")][:labels]


def viterbi(nodes, allowed, starts):
    """All sequences at once, position by position: what a careful person writes in NumPy."""
    best = nodes[:, 0] + starts
    back = numpy.empty(nodes.shape, dtype=numpy.int32)
    for position in range(1, nodes.shape[1]):
        steps = best[:, :, None] + allowed
        back[:, position] = steps.argmax(axis=1)
        best = steps.max(axis=1) + nodes[:, position]
    paths = numpy.empty(nodes.shape[:2], dtype=numpy.int32)
    paths[:, -1] = best.argmax(axis=1)
    rows = numpy.arange(len(nodes))
    for position in range(nodes.shape[1] - 1, 0, -1):
        paths[:, position - 1] = back[rows, position, paths[:, position]]
    return paths, best.max(axis=1)


def viterbi_of_one(nodes, allowed, starts):
    """One sequence: what most people write."""
    best, back = nodes[0] + starts, []
    for row in nodes[1:]:
        steps = best[:, None] + allowed
        back.append(steps.argmax(axis=0))
        best = steps.max(axis=0) + row
    path = [best.argmax()]
    for pointers in reversed(back):
        path.append(pointers[path[-1]])
    return path[::-1], best.max()


def batch(who, sequences, positions, labels):
    nodes, known = scores(sequences, positions, labels), names(labels)
    if who == "ours":
        start = time.process_time()
        found = decode.batch(nodes, known, threads=1)
        seconds, values = time.process_time() - start, found.values
    else:
        follows = lambda a, b: not b.startswith("I-") or a[2:] == b[2:]
        start = time.process_time()
        allowed = numpy.array([[0.0 if follows(a, b) else -numpy.inf for b in known] for a in known], dtype=numpy.float32)
        starts = numpy.array([-numpy.inf if label.startswith("I-") else 0.0 for label in known], dtype=numpy.float32)
        if who == "numpy":
            _, values = viterbi(nodes, allowed, starts)
        else:
            values = [viterbi_of_one(one, allowed, starts)[1] for one in nodes]
        seconds = time.process_time() - start
    return {"seconds": seconds, "value": float(numpy.asarray(values, dtype=numpy.float64).sum())}


@functools.lru_cache(maxsize=1)
def pipeline():
    return consonant.load()


def paragraphs(text):
    with open(text, encoding="utf-8") as file:
        return file.read().split("\n\n")


def pipe(text, threads):
    texts, nlp = paragraphs(text), pipeline()
    start = time.perf_counter()
    words = sum(len(doc) for doc in nlp.pipe(texts, threads=threads))
    return {"seconds": time.perf_counter() - start, "words": words}


def by_threads(text, threads):
    texts, nlp = paragraphs(text)[:600], pipeline()
    share = lambda number: [nlp(one, threads=1 if threads == 1 else 2) for one in texts[number::threads]]
    start = time.perf_counter()
    workers = [threading.Thread(target=share, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return {"seconds": time.perf_counter() - start}


def imported():
    program = "import time; start = time.perf_counter(); import consonant; print(time.perf_counter() - start)"
    run = lambda: float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
    return {"samples": [run() for _ in range(5)]}


def leak(calls):
    def megabytes():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    nlp = pipeline()
    for _ in range(2000):
        nlp("Ann met Bob.", threads=1)
    before = megabytes()
    for _ in range(calls):
        nlp("Ann met Bob.", threads=1).ents
    return {"growth": megabytes() - before}


WORK = {"crf": crf, "batch": batch, "pipe": pipe, "threads": by_threads, "import": imported, "leak": leak}

for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(WORK[request.pop("do")](**request)), flush=True)
