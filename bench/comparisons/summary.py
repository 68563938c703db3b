"""Summaries: our decoder against HiGHS on the same integer programs, and our summaries beside those of sumy."""

import json

from harness.environment import say
from harness.measure import Failed, Side, interleave
from harness.table import Row

SUMMARY = "summaries of the MultiLing 2011 topics: decoding against HiGHS on the same integer programs, ROUGE beside sumy's"
PEERS = ["highspy", "sumy"]

WORDS = 100  # for HiGHS, as in the paper
LENGTH = 250  # for ROUGE, the length of the references
LIMIT = 60.0  # seconds for HiGHS on a topic
GAP = 0.005
METHODS = ("LexRank", "LSA", "KL")


def compare(environment, result):
    if environment.data is None:
        result.skipped.append("all of it needs the topics: give --data DIR or set CONSONANT_DATA")
        return
    file = environment.data / "summarization" / "multiling2011" / "dev.jsonl"
    topics = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        topic = json.loads(line)
        paths = []
        for number, document in enumerate(topic["documents"]):
            paths.append(environment.scratch / f"{topic['id']}-{number}.txt")
            paths[-1].write_text(document["text"], encoding="utf-8")
        topics[topic["id"]] = paths
    for name, paths in topics.items():
        say(f"summary: {name}")
        decode(environment, result, name, paths)
    quality(environment, result, file, topics)
    result.notes.append(f"HiGHS reads the problem that `--lp` wrote, and stops within {100 * GAP:g}% of the best; both clocks leave reading out")
    result.notes.append("from raw text: the whole program, with sentences, tags and trees; sumy's time is its summarizer's alone, on sentences that were split for it")


def decode(environment, result, name, paths):
    """The decoder's own time on the compressive problem, and HiGHS on that problem."""
    program = environment.scratch / "topic.lp"

    def ours():
        run = environment.consonant("summarize", *paths, "--words", WORDS, "--format", "json", "--lp", program, "--threads", 1)
        answer = json.loads(run.output)
        return answer["seconds"], answer

    def theirs():
        answer = environment.peer("highs_lp.py", program, GAP, LIMIT, timeout=4 * LIMIT)
        return answer["seconds"], answer

    sides = {"ours": ours} | ({"HiGHS": theirs} if environment.has("highspy") else {})
    samples, answers = interleave(sides, environment.repeat)
    answer = answers["ours"]
    text = f"value {answer['value']:.4g}, bound {answer['bound']:.4g}, {answer['status']}"
    peers = {}
    if "HiGHS" in answers:
        found = answers["HiGHS"]
        peers["HiGHS"] = Side(samples["HiGHS"], f"value {found['value']:.4g}, bound {found['bound']:.4g}", limited=found["limited"])
        if answer["bound"] < found["value"] - 1e-6 * abs(found["value"]):
            result.failures.append(f"{name}: our bound {answer['bound']} is below HiGHS' value {found['value']}")
    result.rows.append(Row(f"{name}, {WORDS} words, decoding", Side(samples["ours"], text), peers))


def quality(environment, result, file, topics):
    """ROUGE-2 recall at the references' length, and seconds for all topics."""
    gold, predicted = environment.scratch / "gold.jsonl", environment.scratch / "predicted.jsonl"
    gold.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")

    def score(summaries):
        predicted.write_text("".join(json.dumps({"id": name, "summary": text}) + "\n" for name, text in summaries.items()), encoding="utf-8")
        scores = json.loads(environment.consonant("evaluate", "summary", gold, predicted, "--format", "json").output)
        return f"ROUGE-2 recall {scores['rouge_2']['recall']:.4f}"

    def ours(*flags):
        runs = {name: environment.consonant("summarize", *paths, "--words", LENGTH, *flags, "--threads", 1) for name, paths in topics.items()}
        return sum(run.seconds for run in runs.values()), {name: run.output for name, run in runs.items()}

    peers = {}
    if environment.has("sumy"):
        try:
            for method in METHODS:
                answer = environment.peer("sumy_summaries.py", file, method, LENGTH)
                peers[f"sumy {method}"] = Side([answer["seconds"]], score(answer["summaries"]))
        except Failed as error:
            result.skipped.append(f"sumy: {error}")
    for mode, flags in (("compressive", []), ("extractive", ["--extractive"])):
        seconds, summaries = ours(*flags)
        result.rows.append(Row(f"{mode}, {LENGTH} words, {len(topics)} topics from raw text", Side([seconds], score(summaries)), peers if mode == "extractive" else {}))
