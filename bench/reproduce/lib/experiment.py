"""Options, runs of the program, scores, and means over seeds: what the tables and figures of every paper need."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

REPRODUCE = Path(__file__).resolve().parent.parent
BENCH = REPRODUCE.parent
ROOT = BENCH.parent
VENV = BENCH / ".venv" / "bin" / "python"
EPOCH = re.compile(r"^epoch +\d+ ", re.MULTILINE)


@dataclass
class Ran:
    """A run of the program that came to its end."""

    seconds: float  # processor time, what other work on the machine disturbs least
    output: str
    messages: str


@dataclass
class Trained:
    model: Path
    seconds: float  # of the whole program, from the text to the model on disk
    epochs: int
    messages: str


def main(about, parts):
    """Makes the tables and figures that were asked for: `parts` has a function for each, by name."""
    names = ", ".join(parts)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", help=f"what to make, of {names} (default: all)")
    parser.add_argument("--data", type=Path, default=os.environ.get("CONSONANT_DATA"), help="the data folder (default: $CONSONANT_DATA)")
    parser.add_argument("--binary", type=Path, default=target / "consonant", help="the program that is measured")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds, samples or folds each figure is a mean of (default: 3)")
    parser.add_argument("--set", action="append", help="only this set of the data; may be given several times")
    parser.add_argument("--most", type=int, help="so many sentences (topics, of summaries) of a set at most, where a table would have more: sooner, and another table")
    parser.add_argument("--figures", type=Path, default=Path("figures"), help="the folder for drawings (default: figures)")
    parser.add_argument("--cells", type=Path, help="a file that keeps what was measured: a run that was cut off goes on where it ended (remove it when the program has changed)")
    parser.add_argument("--quick", action="store_true", help="a few sentences of one set, a few iterations, one seed: shows that it runs, and no more")
    arguments = parser.parse_args()
    for part in arguments.part:
        if part not in parts:
            parser.error(f"there is no {part}; there are {names}")
    if arguments.data is None or not Path(arguments.data).is_dir():
        parser.error("give the data folder with --data DIR or in CONSONANT_DATA")
    if not arguments.binary.exists():
        parser.error(f"{arguments.binary} is not there: build it with `cargo build --release`, or give --binary FILE")
    with tempfile.TemporaryDirectory() as scratch:
        experiment = Experiment(arguments, Path(scratch))
        for part in arguments.part or parts:
            print(f"## {part}\n", flush=True)
            parts[part](experiment)


class Experiment:
    def __init__(self, arguments, scratch):
        self.binary, self.data, self.scratch = arguments.binary.resolve(), Path(arguments.data), scratch
        self.quick, self.chosen, self.folder = arguments.quick, arguments.set, arguments.figures
        self.seeds = range(1, 2 if arguments.quick else arguments.seeds + 1)
        self.file = None if arguments.quick else arguments.cells
        self.most = arguments.most
        self.cells = {}
        if self.file and self.file.exists():
            self.cells = dict(json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines())

    def cell(self, key, measure):
        """What `measure` gives, as JSON knows it: from the file of cells, if it was measured before. The key names all that it depends on."""
        key = " | ".join(str(part) for part in key)
        if key not in self.cells:
            self.cells[key] = json.loads(json.dumps(measure()))
            if self.file:
                with open(self.file, "a", encoding="utf-8") as file:
                    print(json.dumps([key, self.cells[key]], ensure_ascii=False), file=file)
        return self.cells[key]

    def size(self, many, few):
        """How many of something: the second number with --quick."""
        return few if self.quick else many

    def cap(self, many):
        """So many, or as many as --most allows."""
        return min(many, self.most or many)

    def run(self, *words):
        """Runs the program on one thread."""
        return run([self.binary, *words, "--threads", 1], self.scratch)

    def train(self, task, *words, seed=1, name="a"):
        say(f"train {task} {' '.join(str(word) for word in words if not isinstance(word, Path))} --seed {seed}")
        model = self.scratch / f"{name}.model"
        ran = self.run("train", task, *words, "--model", model, "--seed", seed)
        return Trained(model, ran.seconds, len(EPOCH.findall(ran.messages)), ran.messages)

    def predict(self, model, source, *words, name="predicted"):
        """What a model predicts: the file, the report and the processor time."""
        output, report = self.scratch / f"{name}{source.suffix}", self.scratch / "report.json"
        ran = self.run("predict", "--model", model, source, "--output", output, "--report", report, "--quiet", *words)
        return output, json.loads(report.read_text()), ran.seconds

    def evaluate(self, what, gold, predicted, *words):
        return json.loads(self.run("evaluate", what, gold, predicted, "--format", "json", *words).output)

    def sets(self, kind, names):
        """The folders of those sets that are in the data folder, by name; with --quick the first of them."""
        there = {name: self.data / kind / name for name in names if self.chosen is None or name in self.chosen}
        missing = [name for name, folder in there.items() if not folder.is_dir()]
        if missing:
            say(f"not in the data folder: {', '.join(missing)}")
        found = [(name, folder) for name, folder in there.items() if folder.is_dir()]
        return dict(found[: self.size(None, 1)])

    def sample(self, source, most, seed=None, name="sample"):
        """So many blocks of a file: drawn by a seed, in their order, or evenly spread without one."""
        blocks = sentences(source)
        most = min(self.size(most or len(blocks), 16), len(blocks))
        places = [place * len(blocks) // most for place in range(most)]
        if seed is not None:
            places = sorted(Random(seed).sample(range(len(blocks)), most))
        return write(self.scratch / f"{name}{source.suffix}", [blocks[place] for place in places])

    def figure(self, name, drawing):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(drawing, encoding="utf-8")
        print(f"![{name}]({self.folder / name})\n", flush=True)


def run(command, scratch):
    """Runs a command to its end."""
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
        return Ran(usage.ru_utime + usage.ru_stime, output.read(), said)


def sentences(path):
    """The blocks of a CoNLL-U file or a file of columns, or the lines of a file of JSON."""
    between = "\n" if path.suffix == ".jsonl" else "\n\n"
    return [block for block in path.read_text(encoding="utf-8").split(between) if block.strip()]


def write(path, blocks):
    between = "\n" if path.suffix == ".jsonl" else "\n\n"
    path.write_text("".join(block + between for block in blocks), encoding="utf-8")
    return path


def table(head, rows):
    """Prints a Markdown table, its first column to the left; rows may come one by one."""
    print("|", " | ".join(head), "|")
    print("|---|" + "--:|" * (len(head) - 1), flush=True)
    for row in rows:
        print("|", " | ".join(row), "|", flush=True)
    print(flush=True)


def mean(values, digits=2, sign=False):
    """The mean of several values, ± their standard deviation where there are several."""
    values = list(values)
    text = f"{statistics.mean(values):{'+' if sign else ''}.{digits}f}"
    return text + (f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else "")


def differences(ours, theirs, digits=2):
    """The mean difference over seeds, and how often it was above zero: no seed alone shows anything."""
    found = [one - other for one, other in zip(ours, theirs)]
    return f"{mean(found, digits, sign=True)}, above zero in {sum(gain > 0 for gain in found)} of {len(found)}"


def say(text):
    print(text, file=sys.stderr, flush=True)
