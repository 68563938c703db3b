"""Instructions of our hot loops by callgrind: the same on a busy machine as on an idle one."""

import json
import re
import shutil

from harness import generate, measure
from harness.environment import BENCH, first_line, say
from harness.measure import Side
from harness.table import Row

from .crf import TEMPLATE

SUMMARY = "instructions of our hot loops against the recorded ones; more than 3% above fails"
PEERS = []

RECORDED = BENCH / "counts.json"
MOST = 1.03


def compare(environment, result):
    if shutil.which("valgrind") is None:
        result.skipped.append("valgrind is not installed; it counts the instructions")
        return
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {"counts": {}}
    compiler = first_line(["rustc", "--version"])
    counts = {}
    for name, arguments in loops(environment).items():
        say(f"counts: {name}")
        counts[name] = instructions(environment, arguments)
        known = recorded["counts"].get(name)
        theirs = {"recorded": Side([known / 1e6])} if known else {}
        result.rows.append(Row(name, Side([counts[name] / 1e6]), theirs, "million instructions", ourselves=True))
        if known and not environment.record and counts[name] > known * MOST:
            result.failures.append(f"{name} takes {100 * (counts[name] / known - 1):.1f}% more instructions than recorded ({counts[name]:,} for {known:,})")
        if not known and not environment.record:
            result.notes.append(f"{name} has no recorded count; `bench/run counts --record` makes it")
    if environment.record:
        RECORDED.write_text(json.dumps({"rustc": compiler, "counts": counts}, indent=1) + "\n")
        result.notes.append(f"recorded in {RECORDED.relative_to(BENCH.parent)}")
    elif recorded.get("rustc", compiler) != compiler:
        result.notes.append(f"recorded with {recorded['rustc']}, now {compiler}: differences may be the compiler's")


def loops(environment):
    """The commands, on data that is generated first; models are trained outside the count."""
    scratch = environment.scratch
    grid = generate.grid(scratch / "counts-grid.loguai", 15, 15, 4, seed=1)
    loose = generate.grid(scratch / "counts-loose.loguai", 14, 14, 3, seed=2)
    logic = generate.logic(scratch / "counts-logic.fg", 4000, seed=3)
    text = generate.tagged_text(scratch / "counts.conllu", 40, 200, seed=4)
    model = scratch / "counts.model"
    train = ["train", "tagger", "--train", text, "--column", "xpos", "--order", 1, "--template", TEMPLATE, "--epochs", 2]
    environment.consonant(*train, "--model", model, "--threads", 1)
    output = ["--output", scratch / "counts-output"]
    ad3 = ["--method", "ad3", "--max-iterations", 100, *output]
    return {
        "solve, AD3, dense grid, 100 iterations": ["solve", grid, *ad3],
        "solve, AD3, logic graph, 100 iterations": ["solve", logic, *ad3],
        "solve, exact, dense grid": ["solve", loose, "--method", "exact", "--time-limit", 1000, *output],
        "train, averaged perceptron": [*train, "--model", scratch / "counted.model", "--algorithm", "averaged-perceptron"],
        "train, likelihood": [*train, "--model", scratch / "counted.model", "--algorithm", "likelihood"],
        "train, piecewise-pseudo-perceptron": [*train, "--model", scratch / "counted.model", "--algorithm", "piecewise-pseudo-perceptron"],
        "predict, tagger": ["predict", "--model", model, text, *output],
        "convert, CoNLL-U": ["convert", text, "--from", "conllu", "--to", "jsonl", *output],
    }


def instructions(environment, arguments):
    """Instructions that a command executes, on one thread."""
    file = environment.scratch / "callgrind.out"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", environment.binary, *arguments, "--threads", 1, "--quiet"]
    # A bare environment: its size and the allocator's settings would count too.
    measure.run(command, timeout=900, env={"PATH": "/usr/bin:/bin"})
    return int(re.search(r"^(?:totals|summary): (\d+)", file.read_text(), re.MULTILINE).group(1))
