#!/usr/bin/env python3
"""Our summarizer next to HiGHS on the same integer programs.

`bench/summary.py --topics DIR` takes annotated topics (one CoNLL-U file each, made with `consonant annotate`; documents begin with
`# newdoc`), summarizes each in 100 words, writes the problem as an LP file and lets HiGHS solve that file to within 0.5 %. Both
run on one thread, one after the other for each topic, and are timed without reading their input: ours by the seconds that
the program reports for decoding, HiGHS by its own clock. `--binary` names the program, `--words` another length.
Needs highspy (bench/run makes an environment that has it).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=Path, required=True, help="folder with one annotated CoNLL-U file for each topic")
    parser.add_argument("--binary", type=Path, default=target / "consonant", help="the program that is measured")
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--extractive", action="store_true")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for HiGHS on one topic")
    parser.add_argument("--solver", default="highs", choices=("highs", "none"))
    arguments = parser.parse_args()
    files = sorted(arguments.topics.glob("*.conllu"))
    if not files:
        parser.error(f"{arguments.topics} has no CoNLL-U files; make them with `consonant annotate`")
    rows = [compare(file, arguments) for file in files]
    print("| topic | words read | variables | ours, ms | iterations | gap, % | HiGHS, ms | HiGHS' value / ours | times faster |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print("| " + " | ".join(row["cells"]) + " |")
    print(f"\nMedian: ours {1000 * statistics.median(r['ours'] for r in rows):.1f} ms, gap {100 * statistics.median(r['gap'] for r in rows):.2f} %", end="")
    solved = [r for r in rows if r["ratio"]]
    if solved:
        print(f", HiGHS {1000 * statistics.median(r['highs'] for r in solved):.0f} ms, {statistics.median(r['ratio'] for r in solved):.0f} times faster", end="")
    print()


def compare(file, arguments):
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "topic.lp"
        command = [arguments.binary, "summarize", file, "--words", str(arguments.words), "--format", "json", "--lp", program, "--threads", "1", "--quiet"]
        if arguments.extractive:
            command.append("--extractive")
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{file}: {done.stderr}")
        ours = json.loads(done.stdout)
        gap = (ours["bound"] - ours["value"]) / max(abs(ours["value"]), 1e-9)
        read = sum(1 for line in file.open() if line[:1].isdigit())
        row = {"ours": ours["seconds"], "gap": gap, "ratio": None, "highs": None}
        cells = [file.stem, str(read)]
        value, seconds, variables = highs(program, arguments.time_limit) if arguments.solver == "highs" else (None, None, 0)
        cells += [str(variables), f"{1000 * ours['seconds']:.1f}", str(ours["iterations"]), f"{100 * gap:.2f}"]
        if seconds is not None:
            row["highs"], row["ratio"] = seconds, seconds / max(ours["seconds"], 1e-9)
            cells += [f"{1000 * seconds:.0f}", f"{value / ours['value']:.4f}", f"{row['ratio']:.0f}"]
        else:
            cells += ["–", "–", "–"]
        row["cells"] = cells
        print(f"{file.stem}: done", file=sys.stderr)
        return row


def highs(program, limit):
    """Value, seconds and variables of HiGHS on one thread, to within 0.5 % of the optimum."""
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.005)
    solver.setOptionValue("time_limit", limit)
    solver.readModel(str(program))
    solver.run()
    return solver.getInfo().objective_function_value, solver.getRunTime(), solver.getNumCol()


if __name__ == "__main__":
    main()
