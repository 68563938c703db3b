"""The whole pipeline on raw text with the embedded models; and its first step, tokens and sentences, against spaCy's rules."""

import json

from harness.environment import ROOT, say
from harness.measure import Side, interleave
from harness.table import Row

SUMMARY = "raw text of English-EWT dev through the embedded models, one thread; tokens and sentences also by spaCy's blank English pipeline"
PEERS = ["spacy"]


def compare(environment, result):
    if environment.data is None:
        result.skipped.append("all of it needs the treebank: give --data DIR or set CONSONANT_DATA")
        return
    text, gold = raw_text(environment), environment.data / "ud" / "English-EWT" / "dev.conllu"
    segmenter = ROOT / "models" / "segmenter.model"
    segment = lambda: annotate(environment, "predict", "--model", segmenter, text, gold=gold, scores=["Tokens", "Sentences"])
    sides = {"ours": segment}
    if environment.has("spacy"):
        sides["spaCy"] = lambda: spacy(environment, text, gold)
    say("annotate: tokens and sentences")
    samples, answers = interleave(sides, environment.repeat)
    peers = {f"spaCy blank, ready after {answers[name][1]:.2f} s": Side(samples[name], answers[name][0]) for name in sides if name != "ours"}
    result.rows.append(Row("tokens and sentences", Side(samples["ours"], answers["ours"]), peers, "tokens/s"))
    for name, layers, scores in (("tags and names", "tags,entities", ["UPOS", "XPOS"]), ("tags, names and trees", "tags,entities,tree", ["UPOS", "UAS", "LAS"])):
        say(f"annotate: {name}")
        job = lambda: annotate(environment, "annotate", text, "--layers", layers, gold=gold, scores=scores)
        samples, answers = interleave({"ours": job}, environment.repeat)
        result.rows.append(Row(name, Side(samples["ours"], answers["ours"]), {}, "tokens/s"))
    word = environment.scratch / "word.txt"
    word.write_text("Hello.\n")
    start = lambda: ((run := environment.consonant("annotate", word)).seconds, f"{run.megabytes:.0f} MB memory")
    samples, answers = interleave({"ours": start}, 2 * environment.repeat + 3)
    result.rows.append(Row("one word, from start to end", Side(samples["ours"], answers["ours"])))
    result.notes.append("tokens a second: words out over the time of the whole run of our program, start and files included; spaCy's clock runs around `pipe` alone")
    result.notes.append("scores are those of the CoNLL 2018 shared task on the same raw text (F); spaCy's tokens follow other rules than the treebank's in places")


def raw_text(environment):
    """The text of English-EWT dev, one paragraph after another, a blank line between them."""
    paragraphs, words = [], []
    for line in (environment.data / "ud" / "English-EWT" / "dev.conllu").read_text(encoding="utf-8").splitlines():
        if line.startswith(("# newdoc", "# newpar")) and words:
            paragraphs.append(" ".join(words))
            words = []
        elif line.startswith("# text = "):
            words.append(line.removeprefix("# text = ").rstrip())
    paragraphs.append(" ".join(words))
    path = environment.scratch / "raw.txt"
    path.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")
    return path


def annotate(environment, *command, gold, scores):
    """Tokens a second and scores of a command that reads raw text."""
    output = environment.scratch / "raw.conllu"
    run = environment.consonant(*command, "--output", output, "--threads", 1)
    with output.open(encoding="utf-8") as lines:
        words = sum(line.split("\t", 1)[0].isdigit() for line in lines)
    return words / run.seconds, f"{quality(environment, gold, output, scores)}, {run.megabytes:.0f} MB memory"


def spacy(environment, text, gold):
    output = environment.scratch / "spacy.conllu"
    answer = environment.peer("spacy_blank.py", text, output)
    return answer["tokens_per_second"], (quality(environment, gold, output, ["Tokens", "Sentences"]), answer["ready"])


def quality(environment, gold, output, names):
    scores = json.loads(environment.consonant("evaluate", "trees", gold, output, "--format", "json").output)
    return ", ".join(f"{name} {100 * scores[name]['f1']:.2f}" for name in names)
