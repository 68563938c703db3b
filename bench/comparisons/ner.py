"""Names that agree: the two-slave decoder against the spanning-tree cover and against HiGHS on the same graphs."""

import json

from harness.environment import say
from harness.measure import Side
from harness.table import Row

SUMMARY = "two-slave decoding of names that agree against spanning trees and HiGHS"
PEERS = ["numpy", "highspy"]

SETS = ("msm2013", "wikigold")
LIMIT = 20.0  # seconds for each graph and HiGHS


def compare(environment, result):
    if environment.data is None:
        result.skipped.append("needs the data folder: give --data DIR or set CONSONANT_DATA")
        return
    for name in SETS:
        decode(environment, result, name, environment.data / "ner" / name)


def decode(environment, result, name, folder):
    """All groups of a dev set, decoded by a model that was trained with pattern agreement."""
    say(f"ner: {name}")
    scratch = environment.scratch
    model, graphs = scratch / f"{name}.model", scratch / f"{name}.graphs"
    train = ["--train", folder / "train.tsv", "--dev", folder / "dev.tsv", "--model", model, "--consistency", "patterns"]
    # Strength 1: what was learned, whatever dev says of it, so that there is something to decode.
    environment.consonant("train", "ner", *train, "--strength", 1, "--threads", 1)

    def ours(decoder):
        report = scratch / "report.json"
        arguments = ["--model", model, folder / "dev.tsv", "--output", scratch / "out.tsv", "--decoder", decoder, "--report", report, "--threads", 1]
        environment.consonant("predict", *arguments, "--graphs", graphs)
        units = json.loads(report.read_text())["units"]
        return units, sum(unit["seconds"] for unit in units)

    found = {decoder: [ours(decoder) for _ in range(environment.repeat)] for decoder in ("two-slave", "spanning-trees")}
    sides = {}
    for decoder, runs in found.items():
        units = runs[-1][0]
        certified = sum(unit["status"] == "optimal" for unit in units)
        value = sum(unit["value"] for unit in units)
        sides[decoder] = Side([seconds for _, seconds in runs], f"{certified} of {len(units)} certified, value {value:.2f}")
    for two, trees in zip(found["two-slave"][-1][0], found["spanning-trees"][-1][0]):
        if two["value"] < trees["value"] - 1e-6 * abs(trees["value"]):
            result.failures.append(f"{name}: two slaves found {two['value']:.6f}, the trees {trees['value']:.6f}")
    theirs = {"spanning trees": sides["spanning-trees"]}
    if environment.has("highspy"):
        answers = environment.peer("names.py", graphs, LIMIT, timeout=3600.0)
        solved = sum(answer["status"] == "optimal" for answer in answers)
        quality = f"{solved} of {len(answers)} solved"
        theirs["HiGHS ILP"] = Side([sum(answer["seconds"] for answer in answers)], quality, limited=solved < len(answers))
        check(result, name, found["two-slave"][-1][0], answers)
    result.rows.append(Row(f"{name}, dev", sides["two-slave"], theirs))


def check(result, name, units, answers):
    """Every optimum of HiGHS must be the value of one of our units: groups without links have no graph, so they are matched by value."""
    certified = [unit["value"] for unit in units if unit["status"] == "optimal"]
    for answer in answers:
        if answer["status"] == "optimal" and not any(abs(value - answer["value"]) <= 1e-5 * abs(value) + 1e-3 for value in certified):
            result.failures.append(f"{name}: HiGHS found an optimum of {answer['value']:.4f}, which is none of our certified values")
