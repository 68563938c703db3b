"""`bench/run`: arguments, order of work, the last word."""

import argparse
import importlib
import json
import os
import sys
import tempfile
from pathlib import Path

from . import report, table
from .environment import BENCH, Environment, build, say, stamp
from .measure import Failed
from .table import Result


def main():
    names = sorted(path.stem for path in (BENCH / "comparisons").glob("*.py") if path.stem != "__init__")
    options = arguments(names)
    comparisons = [importlib.import_module(f"comparisons.{name}") for name in options.names or names]
    try:
        binary = options.binary or build()
    except (Failed, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="consonant-bench-") as scratch:
        environment = Environment(Path(binary).resolve(), options.data, Path(scratch), options.repeat, options.record)
        results = [compare(module, environment) for module in comparisons]
        about = stamp(environment, {peer for module in comparisons for peer in module.PEERS})
    if options.json:
        data = {"stamp": about, "comparisons": {result.name: table.as_json(result) for result in results}}
        options.json.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    if options.report:
        report.write(about, results, command(options))
    return conclude(results)


def arguments(names):
    parser = argparse.ArgumentParser(prog="bench/run", description="Compares Consonant with its peers, side by side in one run.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which comparisons (default: all): {', '.join(names)}")
    parser.add_argument("--data", type=Path, metavar="DIR", help="the data folder (default: CONSONANT_DATA); what needs it is skipped without")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample as JSON")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds for each problem (default: 3); long ones stop earlier")
    parser.add_argument("--report", action="store_true", help="write docs/benchmarks.md and its drawings from this run")
    parser.add_argument("--record", action="store_true", help="with counts: record today's counts as the ones to compare with")
    parser.add_argument("--binary", type=Path, metavar="FILE", help="measure this binary instead of building one")
    options = parser.parse_args()
    for name in options.names:
        if name not in names:
            parser.error(f"no comparison is named {name}; there are {', '.join(names)}")
    if options.repeat < 1:
        parser.error("--repeat wants at least 1")
    if options.data is None and os.environ.get("CONSONANT_DATA"):
        options.data = Path(os.environ["CONSONANT_DATA"])
    if options.data is not None:
        if not options.data.is_dir():
            parser.error(f"{options.data} is not a folder")
        options.data = options.data.resolve()
    if options.binary is not None and not options.binary.is_file():
        parser.error(f"{options.binary} is not a file")
    return options


def command(options):
    """The command that made the report, without the paths of this machine."""
    words = ["bench/run", *options.names, "--report", f"--repeat {options.repeat}"]
    return " ".join(words + (["--data DIR"] if options.data else []))


def compare(module, environment):
    name = module.__name__.rpartition(".")[2]
    result = Result(name, module.SUMMARY)
    say(f"{name}: {module.SUMMARY}")
    environment.install(module.PEERS)
    result.skipped += [f"{peer}: cannot be installed ({environment.unavailable[peer]})" for peer in module.PEERS if not environment.has(peer)]
    try:
        module.compare(environment, result)
    except Failed as error:
        result.failures.append(str(error))
    print(f"\n{name}: {module.SUMMARY}\n")
    if result.rows:
        print(table.as_text(result))
    for kind, texts in (("note", result.notes), ("skipped", result.skipped), ("failed", result.failures)):
        for text in texts:
            print(f"{kind}: {text}")
    sys.stdout.flush()
    return result


def conclude(results):
    """Three lines that sum up, and the exit code: a wrong answer or a grown count fails, a slow moment does not."""
    ratios = [ratio for result in results for ratio in result.ratios()]
    ahead = sum(ratio >= 1 for _, _, ratio, _ in ratios)
    behind = sorted((ratio, f"{problem} ({peer} {table.ratio_text((ratio, sign))})") for problem, peer, ratio, sign in ratios if ratio < 1)
    failures = [f"{result.name}: {text}" for result in results for text in result.failures]
    skipped = sum(len(result.skipped) for result in results)
    print(f"\nahead in {ahead} of {len(ratios)} measurements" + (f"; {skipped} skipped" if skipped else ""))
    print("behind: " + ("; ".join(text for _, text in behind[:5]) + (" …" if len(behind) > 5 else "") if behind else "nowhere"))
    print(f"failed: {'; '.join(failures)}" if failures else "no answer was wrong")
    return 1 if failures else 0
