"""MAP inference: AD3 against the LP solver on relaxations, the exact solver against toulbar2, HiGHS, CP-SAT and SCIP."""

import csv
import math

from harness import generate
from harness.environment import say
from harness.measure import Failed, Side, interleave
from harness.table import Plot, Row

SUMMARY = "AD3 and exact MAP against toulbar2, HiGHS, CP-SAT, SCIP and AD3 in C++"
PEERS = ["numpy", "highspy", "pytoulbar2", "ortools", "pyscipopt", "ad3"]

# name -> package, script and what it wants before the time limit; each runs in a process of its own, where packages cannot clash
SEARCHERS = {
    "toulbar2": ("pytoulbar2", "toulbar2.py"),
    "HiGHS": ("highspy", "highs.py", "ilp"),
    "CP-SAT": ("ortools", "cpsat.py"),
    "SCIP": ("pyscipopt", "scip.py"),
}

CLOSE = 1e-4  # relative distance from the LP value at which the relaxation counts as solved
LIMIT = 10.0  # seconds for each instance and exact solver
ITERATIONS = 2000  # AD3 is stopped here when it gets no closer


def compare(environment, result):
    scratch, data = environment.scratch, environment.data
    potts = [generate.grid(scratch / f"potts_{side}x{side}x{states}.loguai", side, side, states, seed=7, potts=0.7) for side, states in ((30, 5), (60, 4))]
    relaxations = {f"Potts grid {path.stem.removeprefix('potts_')}": path for path in potts}
    searches = {"Potts grid 30x30x5": potts[0]}
    if data is None:
        grid = generate.grid(scratch / "dense_30x30x5.loguai", 30, 30, 5, seed=5)
        relaxations = {"dense grid 30x30x5 (own)": grid} | relaxations
        result.skipped.append("the grids, the coverage problem and the instances of the data folder: give --data DIR or set CONSONANT_DATA")
    else:
        speed = data / "map" / "speed"
        relaxations = {
            "dense grid 10x10x5": speed / "dense_grid_10x10x5.loguai",
            "dense grid 30x30x5": speed / "dense_grid_30x30x5.loguai",
            "coverage 200x1500": speed / "coverage_200x1500.json",
        } | relaxations
        searches |= {"dense grid 10x10x5": speed / "dense_grid_10x10x5.loguai", "coverage 200x1500": speed / "coverage_200x1500.json"}
    logic = {links: generate.logic(scratch / f"logic_{links}.fg", links, seed=3) for links in (20_000, 200_000)}
    relaxations["logic graph, 20,000 links"] = searches["logic graph, 20,000 links"] = logic[20_000]

    if environment.has("highspy") and environment.has("numpy"):
        for name, path in relaxations.items():
            relaxation(environment, result, name, path)
    grows(environment, result, logic)
    for name, path in searches.items():
        search(environment, result, name, path)
    if data is not None:
        instances(environment, result, data / "map")


def relaxation(environment, result, name, path):
    """The time until AD3's bound is close to the LP value, against the time that HiGHS needs for the LP."""
    say(f"map: {name}, relaxation")
    trace = environment.scratch / "trace.csv"
    ours = []

    def ad3():
        arguments = ["--method", "ad3", "--threads", "1", "--max-iterations", ITERATIONS, "--gap", "1e-9", "--trace", trace]
        answer = environment.solve(path, *arguments)
        with open(trace, newline="") as file:
            answer["trace"] = [{key: float(text) for key, text in line.items() if text} for line in csv.DictReader(file)]
        ours.append(answer)
        return answer["seconds"], answer

    def highs(method):
        answer = environment.peer("highs.py", path, method, 60)
        return answer["seconds"], answer

    sides = {"ours": ad3, "HiGHS simplex": lambda: highs("lp"), "HiGHS interior point": lambda: highs("ipm")}
    samples, answers = interleave(sides, environment.repeat, budget=10)
    solved = [answer["value"] for peer, answer in answers.items() if peer != "ours" and answer["status"] == "optimal"]
    if not solved:
        result.notes.append(f"{name}: HiGHS did not solve the LP within a minute, so there is nothing to be close to")
        return
    lp = min(solved)
    goal = lp + CLOSE * abs(lp)
    reached = [next((line for line in answer["trace"] if line["bound"] <= goal), None) for answer in ours]
    finished = all(reached)
    times = [line["seconds"] for line in reached] if finished else samples["ours"]
    last = ours[-1]
    answer = f"bound {last['bound']:.3f} after {last['iterations']}, value {last['value']:.3f}" if last["value"] is not None else f"bound {last['bound']:.3f}"
    if finished:
        answer = f"{int(reached[-1]['iteration'])} iterations; then " + answer
    peers = {
        peer: Side(samples[peer], f"LP {found['value']:.3f}" if found["status"] == "optimal" else found["status"], found["status"] != "optimal")
        for peer, found in answers.items()
        if peer != "ours"
    }
    iteration, theirs = [found["seconds"] / found["iterations"] for found in ours], {}
    if environment.has("ad3"):
        runs = [environment.peer("ad3.py", path, lp, ITERATIONS) for _ in range(len(ours))]
        found = runs[-1]
        answer_there = f"value {found['value']:.3f} after {found['iterations']}, no bound"
        peers["AD3 in C++"] = Side([run["seconds"] for run in runs], answer_there, not found["close"])
        theirs["AD3 in C++"] = Side([run["seconds"] / run["iterations"] for run in runs], f"of {found['iterations']}")
    result.rows.append(Row(f"{name}: LP to 1e-4", Side(times, answer, not finished), peers))
    result.rows.append(Row(f"{name}: an iteration", Side(iteration, f"of {last['iterations']}"), theirs))
    lowest = min(line["bound"] for found in ours for line in found["trace"])
    if lowest < lp - 1e-6 * max(1, abs(lp)):
        result.failures.append(f"{name}: a bound of {lowest} lies below the LP value {lp}")


def grows(environment, result, logic):
    """AD3 on logic graphs, a fixed number of iterations: tenfold links, tenfold time; and what a second thread gives."""
    times = {}
    for links, path in logic.items():
        say(f"map: logic graph, {links:,} links")

        def ours(threads):
            answer = environment.solve(path, "--method", "ad3", "--threads", threads, "--max-iterations", 100)
            return answer["seconds"], answer

        samples, answers = interleave({"1": lambda: ours(1), "2": lambda: ours(2)}, environment.repeat, budget=10)
        one, two = (Side(samples[threads], f"bound {answers[threads]['bound']:.4f}, {answers[threads]['iterations']} iterations") for threads in "12")
        result.rows.append(Row(f"logic graph, {links:,} links, 2 threads", two, {"ours, 1 thread": one}, ourselves=True))
        if any(answers["1"][key] != answers["2"][key] for key in ("value", "bound", "iterations", "assignment")):
            result.failures.append(f"logic graph, {links:,} links: two threads gave another answer than one")
        times[links] = (one.median / answers["1"]["iterations"], two.median / answers["2"]["iterations"])
    small, large = times.values()
    result.notes.append(f"logic graphs: ten times the links take {large[0] / small[0]:.1f} times as long an iteration on one thread, {large[1] / small[1]:.1f} on two")
    series = {f"{number} thread{'s' * (number > 1)}": [(links, times[links][number - 1]) for links in times] for number in (1, 2)}
    result.plots.append(Plot("AD3 on logic graphs: seconds an iteration", "links", "seconds", series))


def search(environment, result, name, path, optimum=None, limit=LIMIT, budget=8.0):
    """Each exact solver until its proof or the limit. Returns our answer."""
    say(f"map: {name}, exact")

    def ours():
        answer = environment.solve(path, "--method", "exact", "--threads", "1", "--time-limit", limit, timeout=6 * limit)
        return answer["seconds"], answer

    def peer(script, *arguments):
        def call():
            try:
                answer = environment.peer(script, path, *arguments, limit, timeout=8 * limit)
            except Failed as error:
                answer = {"status": "failed", "seconds": limit, "value": None, "bound": None, "why": str(error)}
            return answer["seconds"], answer

        return call

    sides = {"ours": ours}
    for who, (package, *call) in SEARCHERS.items():
        if environment.has(package) and environment.has("numpy"):
            sides[who] = peer(*call)
    samples, answers = interleave(sides, environment.repeat, budget)
    proven = lambda answer: answer["status"] in ("optimal", "infeasible")
    side = lambda who: Side(samples[who], describe(answers[who]), not proven(answers[who]))
    result.rows.append(Row(f"{name}: exact", side("ours"), {who: side(who) for who in sides if who != "ours"}))
    check(result, name, answers, optimum)
    return answers["ours"]


def describe(answer):
    if answer["status"] == "infeasible":
        return "infeasible"
    if answer["status"] == "optimal":
        return f"optimal {answer['value']:.4f}"
    value = "no value" if answer["value"] is None else f"value {answer['value']:.4f}"
    bound = "no bound" if answer["bound"] is None or not math.isfinite(answer["bound"]) else f"bound {answer['bound']:.2f}"
    return f"{value}, {bound}"


def check(result, name, answers, optimum):
    """Our value may not exceed, nor our bound fall below, what is known or what anybody found."""
    ours = answers["ours"]
    values = [answer["value"] for answer in answers.values() if answer["value"] is not None]
    best = optimum if isinstance(optimum, float) else max(values, default=None)
    if ours["status"] == "infeasible":
        if best is not None:
            result.failures.append(f"{name}: we say infeasible, but {best} is possible")
        return
    if best is None or optimum == "infeasible":
        if ours["status"] == "optimal":
            result.failures.append(f"{name}: we say optimal, but nothing is possible")
        return
    slack = 1e-5 * max(1.0, abs(best))
    if ours["bound"] is not None and ours["bound"] < best - slack:
        result.failures.append(f"{name}: our bound {ours['bound']} lies below {best}")
    if isinstance(optimum, float) and ours["value"] is not None and ours["value"] > optimum + slack:
        result.failures.append(f"{name}: our value {ours['value']} lies above the optimum {optimum}")


def instances(environment, result, folder):
    """The public instances with known optima."""
    with open(folder / "index.tsv", newline="") as file:
        index = list(csv.DictReader(file, delimiter="\t"))
    proofs, near = 0, 0
    for entry in index:
        optimum = entry["optimum_log"]
        optimum = optimum if optimum == "infeasible" else float(optimum)
        answer = search(environment, result, entry["name"], folder / entry["file"], optimum, budget=2.0)
        if answer["status"] in ("optimal", "infeasible"):
            proofs += 1
        elif isinstance(optimum, float) and answer["value"] is not None and answer["value"] >= optimum - 0.01 * abs(optimum):
            near += 1
    result.notes.append(f"of {len(index)} instances we prove {proofs} within {LIMIT:.0f} s; of the others {near} end within 1% of the optimum")
