"""How time grows with the input: the exponent between a size and four times that size, against the recorded one."""

import json
import math
import random

from harness import measure
from harness.environment import BENCH, say
from harness.measure import Side
from harness.table import Row

SUMMARY = "exponents of time by size: annotate, evaluate, solve, summarize, train, parse by length; one that rises by more than 0.25 fails"
PEERS = []

RECORDED = BENCH / "growth.json"
MOST = 0.25
FACTOR = 4
# A start of the program is taken off; what is left must be longer than the clock's noise.
LEAST = 0.05

WORDS = "the old dog saw a small cat near London and Peter Smith of Acme said that nobody cared about it".split()
TAGS = "DET ADJ NOUN VERB DET ADJ NOUN ADP PROPN CCONJ PROPN PROPN ADP PROPN VERB SCONJ PRON VERB ADP PRON".split()


def compare(environment, result):
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    exponents = {}
    start = seconds(environment, ["--version"])
    for name, (size, prepare) in works(environment).items():
        say(f"growth: {name}")
        small, large = (max(seconds(environment, prepare(size * factor)) - start, LEAST / 10) for factor in (1, FACTOR))
        if large < LEAST:
            result.notes.append(f"{name} is over too soon to be measured")
            continue
        exponents[name] = round(math.log(large / small, FACTOR), 2)
        known = recorded.get(name)
        theirs = {"recorded": Side([known])} if known is not None else {}
        result.rows.append(Row(f"{name}, {size:,} to {size * FACTOR:,}", Side([exponents[name]]), theirs, "exponent", ourselves=True))
        if known is None and not environment.record:
            result.notes.append(f"{name} has no recorded exponent; `bench/run growth --record` makes it")
        elif not environment.record and exponents[name] > known + MOST:
            result.failures.append(f"{name} grows with the power {exponents[name]} of its input, and did with {known}")
    if environment.record:
        RECORDED.write_text(json.dumps(exponents, indent=1) + "\n")
        result.notes.append(f"recorded in {RECORDED.relative_to(BENCH.parent)}")


def seconds(environment, arguments):
    """The fastest of three, by the processor: other work beside it changes little."""
    command = [environment.binary, *map(str, arguments), "--threads", "1"]
    return min(measure.run(command, timeout=900).processor for _ in range(3))


def works(environment):
    """For each work its size and what makes a command for a size."""
    scratch, output = environment.scratch, ["--output", environment.scratch / "growth-output", "--quiet"]
    numbers = random.Random(1)

    def words(count):
        return [numbers.randrange(len(WORDS)) for _ in range(count)]

    def write(name, text):
        path = scratch / f"growth-{name}"
        path.write_text(text)
        return path

    def text(count, width=15):
        chosen = [WORDS[i] for i in words(count)]
        return " ".join(" ".join(chosen[i : i + width]).capitalize() + "." for i in range(0, count, width))

    def trees(count, length):
        lines = []
        for _ in range(count // length):
            for at, i in enumerate(words(length)):
                lines.append(f"{at + 1}\t{WORDS[i]}\t_\t{TAGS[i]}\t_\t_\t{at}\t{'dep' if at else 'root'}\t_\t_\n")
            lines.append("\n")
        return "".join(lines)

    def chain(count):
        variables = ",".join(f'{{"name":"v{i}","scores":[0,{numbers.random():.3f},{numbers.random():.3f}]}}' for i in range(count))
        pair = lambda i: f'{{"kind":"table","over":["v{i}","v{i + 1}"],"scores":[1,0,0,0,1,0,0,0,1]}}'
        return f'{{"variables":[{variables}],"factors":[{",".join(map(pair, range(count - 1)))}]}}'

    def evaluate(count):
        gold = write("gold.conllu", trees(count, 20))
        return ["evaluate", "trees", gold, gold, *output]

    def rouge(count):
        topic = json.dumps({"id": "a", "documents": [{"text": "a"}], "summaries": [text(count).replace(". ", ".\n")]})
        gold = write("topics.jsonl", topic + "\n")
        predicted = write("summaries.jsonl", json.dumps({"id": "a", "summary": text(count).replace(". ", ".\n")}) + "\n")
        return ["evaluate", "summary", gold, predicted, *output]

    parse = ["predict", "--model", BENCH.parent / "models" / "parser.model"]
    return {
        "annotate, words": (20_000, lambda n: ["annotate", write("text.txt", text(n)), *output]),
        "annotate, one paragraph of lines": (20_000, lambda n: ["annotate", "--layers", "tags", write("lines.txt", "word.\n" * n), *output]),
        "evaluate trees, words": (200_000, evaluate),
        "evaluate summary, words": (20_000, rouge),
        "solve, chain, variables": (10_000, lambda n: ["solve", write("chain.json", chain(n)), *output]),
        "summarize, words": (2_000, lambda n: ["summarize", write("news.txt", text(n)), *output]),
        "train tagger, words": (20_000, lambda n: ["train", "tagger", "--train", write("train.conllu", trees(n, 20)), "--epochs", 2, "--model", scratch / "growth.model", "--quiet"]),
        "parse, words of a sentence": (100, lambda n: [*parse, write("short.conllu", trees(n, n)), *output]),
        "parse, words of a very long sentence": (5_000, lambda n: [*parse, write("long.conllu", trees(n, n)), *output]),
    }
