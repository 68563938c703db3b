"""Summaries: our decoder against HiGHS on the same integer programs, and our summaries beside those of sumy."""

import json
import statistics

from harness.environment import say
from harness.measure import Failed, Side, interleave
from harness.table import Row

SUMMARY = "summaries of news (MultiLing 2011) and mail (BC3): decoding against HiGHS on the same integer programs, ROUGE beside sumy's"
PEERS = ["highspy", "sumy"]

SETS = {"multiling2011": "MultiLing", "bc3": "BC3"}
WORDS = (100, 250)  # for HiGHS: the paper's length, and that of the references
LENGTH = 250  # for ROUGE
LIMIT = 10.0  # seconds for HiGHS on a topic
GAP = 0.005  # where both stop
METHODS = ("LexRank", "LSA", "KL")


def compare(environment, result):
    if environment.data is None:
        result.skipped.append("all of it needs the topics: give --data DIR or set CONSONANT_DATA")
        return
    folder = environment.data / "summarization"
    topics = {name: documents(environment, folder / name / "dev.jsonl") for name in SETS}
    for name, title in SETS.items():
        say(f"summary: {title}")
        for words in WORDS:
            for topic, paths in topics[name].items():
                decode(environment, result, f"{title} {topic}", paths, words)
    ratios = [ratio for _, _, ratio, _ in result.ratios()]
    if ratios:
        result.notes.append(f"decoding: HiGHS takes {statistics.median(ratios):.0f} times as long on the median problem, and {min(ratios):.0f} times at least")
    quality(environment, result, folder / "multiling2011" / "dev.jsonl", topics["multiling2011"])
    result.notes.append(f"HiGHS reads the problem that `--lp` wrote; both stop within {100 * GAP:g}% of the best, and both clocks leave reading out")
    result.notes.append("from raw text: the whole program, with sentences, tags and trees; sumy's time is its summarizer's alone, on sentences that were split for it")


def documents(environment, file):
    """The files of each topic's documents."""
    topics = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        topic = json.loads(line)
        topics[topic["id"]] = paths = []
        for number, document in enumerate(topic["documents"]):
            paths.append(environment.scratch / f"{topic['id']}-{number}.txt")
            paths[-1].write_text(document["text"], encoding="utf-8")
    return topics


def decode(environment, result, name, paths, words):
    """The decoder's own time on the compressive problem, and HiGHS on that problem."""
    program = environment.scratch / "topic.lp"
    flags = ["--words", words, "--gap", GAP, "--format", "json", "--lp", program, "--threads", 1]

    def ours():
        answer = json.loads(environment.consonant("summarize", *paths, *flags).output)
        return answer["seconds"], answer

    def theirs():
        answer = environment.peer("highs_lp.py", program, GAP, LIMIT, timeout=10 * LIMIT)
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
    result.rows.append(Row(f"{name}, {words} words, decoding", Side(samples["ours"], text), peers))


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
