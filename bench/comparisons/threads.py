"""Links of a conversation with triples: our decoders against HiGHS on the same problem."""

import json
import os
import subprocess
from pathlib import Path

from harness import measure
from harness.environment import ROOT, say
from harness.measure import Failed, Side, interleave
from harness.table import Row

SUMMARY = "links of conversations, two-slave against HiGHS"
PEERS = ["numpy", "highspy"]

UNITS = (20, 40)
LIMIT = 60.0  # seconds for HiGHS
OURS = ("two-slave", "two-slave, whole", "spanning-trees, whole", "ad3, whole", "exact, whole")


def compare(environment, result):
    example = build()
    for units in UNITS:
        say(f"threads: {units} units")
        problem = environment.scratch / f"thread-{units}.json"
        answers = []

        def ours():
            answers.append(json.loads(measure.run([example, "generate", units, 1, problem], 600.0).output))
            return answers[-1]["decoders"]["two-slave"]["seconds"], answers[-1]

        def highs():
            answer = environment.peer("highs_products.py", problem, LIMIT, timeout=6 * LIMIT)
            return answer["seconds"], answer

        sides = {"ours": ours} | ({"HiGHS": highs} if environment.has("highspy") and environment.has("numpy") else {})
        samples, last = interleave(sides, environment.repeat, budget=60)
        size = f"{units} units, {last['ours']['variables']} links"
        peers = {}
        if "HiGHS" in last:
            found = last["HiGHS"]
            peers["HiGHS"] = Side(samples["HiGHS"], describe(found), found["status"] != "optimal")
        for name in OURS:
            found = last["ours"]["decoders"][name]
            times = [answer["decoders"][name]["seconds"] for answer in answers]
            result.rows.append(Row(f"{size}: {name}", Side(times, describe(found), found["status"] != "optimal"), peers))
            known = last.get("HiGHS", {}).get("value")
            if known is not None and found["bound"] < known - 1e-5 * abs(known):
                result.failures.append(f"{size}, {name}: the bound {found['bound']} lies below {known}")
    result.notes.append("`whole`: without deciding beforehand what needs no search, and without finishing what the decomposition leaves open")


def describe(answer):
    return f"{answer['status']} {answer['value']:.4f}" if answer["value"] is not None else answer["status"]


def build():
    """Builds the example that decodes and writes the problem."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = ["cargo", "build", "--release", "--quiet", "--package", "consonant-conversations", "--example", "decoding"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed("the example `decoding` of consonant-conversations does not build: see cargo")
    return (ROOT / target / "release" / "examples" / "decoding").resolve()
