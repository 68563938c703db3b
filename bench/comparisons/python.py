"""The Python package against the program and against what Python people use today."""

import subprocess

from comparisons.annotate import raw_text
from harness.environment import ROOT, VENV, say
from harness.measure import Failed, Side, interleave
from harness.table import Row

SUMMARY = "the Python package: the pipeline against the program, CRF against sklearn-crfsuite from feature dictionaries, batches of labels against NumPy"
PEERS = ["numpy", "sklearn-crfsuite"]

# The algorithm's name on both sides, and iterations.
ALGORITHMS = [("lbfgs", 20), ("ap", 10)]
MOST_OVERHEAD = 1.10


def compare(environment, result):
    if not environment.has("numpy"):
        return
    install()
    with environment.worker("python_package.py") as python:
        small(result, python)
        if environment.data is None:
            result.skipped.append("the pipeline and CRF need the data: give --data DIR or set CONSONANT_DATA")
            return
        pipeline(environment, result, python)
        if environment.has("sklearn-crfsuite"):
            for name, train, dev in datasets(environment.data):
                if train.exists():
                    crf(environment, result, python, name, train, dev)
                else:
                    result.skipped.append(f"{name}: {train} is not there")


def install():
    """The package as it stands here: the wheel that `crates/python/test` built, or one that pip builds."""
    wheels = sorted((ROOT / "target" / "python" / "wheels").glob("*.whl"))
    say("python: installing " + (f"{wheels[-1].relative_to(ROOT)}" if wheels else "the package, which pip builds first"))
    done = subprocess.run(
        [VENV / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheels[-1] if wheels else ROOT / "crates" / "python"],
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise Failed(f"the package cannot be built: {(done.stderr.strip().splitlines() or ['pip said nothing'])[-1]}")


def datasets(data):
    yield "EWT xpos", data / "ud" / "English-EWT" / "train.conllu", data / "ud" / "English-EWT" / "dev.conllu"
    yield "WNUT-17 names", data / "ner" / "wnut17" / "train.tsv", data / "ner" / "wnut17" / "dev.tsv"


def small(result, python):
    """What needs no data: batches of labels, import, memory."""
    say("python: batches of labels")
    asked = {"do": "batch", "sequences": 10_000, "positions": 30, "labels": 9}
    sides = {who: lambda who=who: ((answer := python.ask(who=who, **asked))["seconds"], answer["value"]) for who in ("ours", "numpy", "numpy, one by one")}
    samples, values = interleave(sides, 3)
    for who, value in values.items():
        if abs(values["ours"] - value) > 1e-3 * abs(value):
            result.failures.append(f"a batch is worth {values['ours']}, by {who} {value}")
    peers = {
        "Viterbi in NumPy, sequence by sequence": Side(samples["numpy, one by one"]),
        "Viterbi in NumPy, all sequences at once (they are equally long)": Side(samples["numpy"]),
    }
    result.rows.append(Row("decode.batch of 10,000 sequences of 30 words, 9 labels", Side(samples["ours"], "1 thread"), peers))
    answer = python.ask(do="import")
    result.rows.append(Row("import consonant", Side(answer["samples"])))
    say("python: memory")
    answer = python.ask(do="leak", calls=100_000)
    result.notes.append(f"resident memory after 100,000 calls of nlp: {answer['growth']:+.1f} MB")
    if answer["growth"] > 16:
        result.failures.append(f"memory grew by {answer['growth']:.1f} MB in 100,000 calls")


def pipeline(environment, result, python):
    """Paragraphs of raw text, one thread: the stream of documents against the program on the same text."""
    say("python: the pipeline")
    text = raw_text(environment)
    output = environment.scratch / "python.conllu"
    sides = {
        "python": lambda: ((answer := python.ask(do="pipe", text=str(text), threads=1))["seconds"], answer["words"]),
        "program": lambda: (environment.consonant("annotate", text, "--threads", 1, "--output", output).seconds, None),
        "single": lambda: ((answer := python.ask(do="threads", text=str(text), threads=1))["seconds"], None),
        "four": lambda: ((answer := python.ask(do="threads", text=str(text), threads=4))["seconds"], None),
    }
    samples, answers = interleave(sides, environment.repeat, budget=300.0)
    words = f"{answers['python']} words, documents made"
    row = Row("nlp.pipe, one thread", Side(samples["python"], words), {"consonant annotate": Side(samples["program"], "CoNLL-U written")}, ourselves=True)
    result.rows.append(row)
    ratio = row.ours.median / row.theirs["consonant annotate"].median
    result.notes.append(f"nlp.pipe takes {ratio:.2f} of the program's time (at most {MOST_OVERHEAD} is wanted)")
    row = Row("nlp by four threads of Python, threads=1 each", Side(samples["four"]), {"by one": Side(samples["single"])}, ourselves=True)
    result.rows.append(row)


def crf(environment, result, python, name, train, dev):
    """Fit and predict from feature dictionaries, one thread."""
    for algorithm, iterations in ALGORITHMS:
        say(f"python: {name}, {algorithm}")
        asked = {"do": "crf", "train": str(train), "dev": str(dev), "algorithm": algorithm, "iterations": iterations}
        fits, answers = {"ours": [], "theirs": []}, {}
        for _ in range(min(2, environment.repeat)):
            for who in fits:
                answers[who] = python.ask(who=who, **asked)
                fits[who].append(answers[who])
        side = lambda who, what: Side([one[what] for one in fits[who]], f"{100 * answers[who]['accuracy']:.2f}% on dev")
        peer = "sklearn-crfsuite"
        result.rows.append(Row(f"{name}, fit, {algorithm}, {iterations} iterations", side("ours", "fit"), {peer: side("theirs", "fit")}))
        result.rows.append(Row(f"{name}, predict, {algorithm}", side("ours", "predict"), {peer: side("theirs", "predict")}))
