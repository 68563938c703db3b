"""How our own time and memory grow: with threads, the length of sentences, the length of a text, and the number of documents."""

import json
import statistics

from harness import generate
from harness.environment import say
from harness.measure import Side, interleave
from harness.table import Plot, Row

from .annotate import raw_text
from .crf import TEMPLATE
from .labels import every

SUMMARY = "how our time and memory grow with threads, sentence length, text and documents (labels: see `labels`)"
PEERS = []


def compare(environment, result):
    threads(environment, result)
    if environment.data is None:
        result.skipped.append("sentence length, text and documents need the data: give --data DIR or set CONSONANT_DATA")
        return
    sentence_length(environment, result)
    text_length(environment, result)
    documents(environment, result)


def threads(environment, result):
    """One thread and two, on generated problems; their answers must be the same to the last bit."""
    logic = generate.logic(environment.scratch / "scale.fg", 200_000, seed=5)
    text = generate.tagged_text(environment.scratch / "scale.conllu", 40, 4000, seed=6)
    train = ["train", "tagger", "--train", text, "--column", "xpos", "--order", 1, "--template", TEMPLATE]
    jobs = {
        "solve, AD3, 200,000 links, 200 iterations": ["solve", logic, "--method", "ad3", "--max-iterations", 200, "--format", "json", "--output"],
        "train, likelihood, 80,000 tokens, 10 iterations": [*train, "--algorithm", "likelihood", "--epochs", 10, "--model"],
    }
    for number, (name, job) in enumerate(jobs.items()):
        say(f"scale: {name}")
        output = {count: environment.scratch / f"scale-{number}-{count}" for count in (1, 2)}
        call = lambda count: ((run := environment.consonant(*job, output[count], "--threads", count)).seconds, run)
        samples, _ = interleave({count: lambda count=count: call(count) for count in output}, environment.repeat)
        if answer(output[1]) != answer(output[2]):
            result.failures.append(f"{name}: two threads answer differently from one")
        two = Side(samples[2], "the same answer, bit for bit")
        result.rows.append(Row(f"{name}: 2 threads", two, {"1 thread": Side(samples[1])}, ourselves=True))


def answer(path):
    """What was written, without the time that it took."""
    content = path.read_bytes()
    if content.startswith(b"{"):
        fields = json.loads(content)
        fields.pop("seconds", None)
        return fields
    return content


def sentence_length(environment, result):
    """Seconds for a sentence by its length: the third-order parser, with AD3 and by subgradient."""
    say("scale: sentence length")
    folder, train = environment.data / "ud" / "English-EWT", environment.scratch / "scale-train.conllu"
    every(folder / "train.conllu", train, 12)
    model, report = environment.scratch / "scale-parser.model", environment.scratch / "scale-parser.json"
    environment.consonant("train", "parser", "--train", train, "--model", model, "--order", 3, "--epochs", 3)
    lines = {}
    for decoder in ("ad3", "subgradient"):
        arguments = ["--decoder", decoder, "--report", report, "--output", environment.scratch / "scale-parsed.conllu", "--threads", 1]
        environment.consonant("predict", "--model", model, folder / "dev.conllu", *arguments)
        seconds = {}
        for unit in json.loads(report.read_text())["units"]:
            seconds.setdefault(bucket(unit["tokens"]), []).append(unit["seconds"])
        lines[decoder] = [(length, statistics.mean(times)) for length, times in sorted(seconds.items()) if len(times) >= 5]
    result.plots.append(Plot("Parsing a sentence at third order", "words in the sentence", "seconds", lines))


def bucket(length):
    """The middle of a range of lengths."""
    return max(1, round(length / 5) * 5) if length < 50 else round(length / 10) * 10


def text_length(environment, result):
    """Peak memory of `annotate` on a text, and on ten times the text."""
    say("scale: length of the text")
    short = raw_text(environment)
    long = environment.scratch / "raw-10.txt"
    long.write_text("\n\n".join([short.read_text(encoding="utf-8").rstrip("\n")] * 10) + "\n", encoding="utf-8")
    for name, text in (("a text", short), ("ten times the text", long)):
        run = environment.consonant("annotate", text, "--layers", "tags", "--output", environment.scratch / "annotated.conllu")
        size = text.stat().st_size / 1e6
        result.rows.append(Row(f"annotate, tags, {name} ({size:.1f} MB)", Side([run.seconds], f"{run.megabytes:.0f} MB memory"), ourselves=True))


def documents(environment, result):
    """Seconds and memory of `summarize` as documents are added."""
    say("scale: documents")
    topics = (environment.data / "summarization" / "gum" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [document["text"] for topic in topics for document in json.loads(topic)["documents"]]
    points = []
    for count in (5, 20, 80):
        paths = []
        for number, text in enumerate(texts[:count]):
            paths.append(environment.scratch / f"document-{number}.txt")
            paths[-1].write_text(text, encoding="utf-8")
        run = environment.consonant("summarize", *paths, "--output", environment.scratch / "summary.txt")
        words = sum(len(text.split()) for text in texts[:count])
        points.append((count, run.seconds))
        result.rows.append(Row(f"summarize {count} documents ({words:,} words)", Side([run.seconds], f"{run.megabytes:.0f} MB memory"), ourselves=True))
    result.plots.append(Plot("From raw documents to a summary of 100 words", "documents", "seconds", {"summarize": points}))
