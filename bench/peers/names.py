"""HiGHS on graphs of names that agree: `names.py FOLDER SECONDS` solves each N.json as an integer program.

Prints, for each graph in the order of the numbers, value (none if it was stopped), status and seconds of processor time around the solver
alone, as JSON. A
table becomes its local polytope; a pattern one column that is at most each of its members.
"""

import json
import sys
import time
from pathlib import Path

import highspy
import numpy as np


def program(problem):
    """Costs, bounds, integrality and rows of the integer program."""
    cost, upper, integer, rows = [], [], [], []
    place, states = {}, {}

    def columns(scores, whole):
        first = len(cost)
        for score in scores:
            forbidden = score == "-inf"
            cost.append(0.0 if forbidden else float(score))
            upper.append(0.0 if forbidden else 1.0)
            integer.append(whole)
        return first

    for variable in problem["variables"]:
        name, size = variable["name"], len(variable["scores"])
        place[name], states[name] = columns(variable["scores"], True), size
        rows.append((range(place[name], place[name] + size), [1.0] * size, 1.0, 1.0))
    for factor in problem["factors"]:
        if factor["kind"] == "table":
            one, other = factor["over"]
            first = columns(factor["scores"], False)
            cells = np.arange(first, first + states[one] * states[other]).reshape(states[one], states[other])
            for name, table in ((one, cells), (other, cells.T)):
                for state in range(states[name]):
                    rows.append(([*table[state], place[name] + state], [1.0] * table.shape[1] + [-1.0], 0.0, 0.0))
        else:
            members = [place[name] + int(state) for name, state in (text.split("=") for text in factor["over"])]
            whole = columns([factor["score"]], False)
            for member in members:
                rows.append(([whole, member], [1.0, -1.0], -highspy.kHighsInf, 0.0))
            # A pattern that costs something must count whenever all its members hold.
            rows.append(([whole, *members], [1.0] + [-1.0] * len(members), 1.0 - len(members), highspy.kHighsInf))
    return cost, upper, integer, rows


def solve(problem, limit):
    cost, upper, integer, rows = program(problem)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(cost), len(rows)
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.offset_ = problem["constant"]
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.array(cost), np.zeros(len(cost)), np.array(upper)
    lp.row_lower_, lp.row_upper_ = np.array([row[2] for row in rows]), np.array([row[3] for row in rows])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0] + [len(row[0]) for row in rows])
    lp.a_matrix_.index_ = np.array([index for row in rows for index in row[0]])
    lp.a_matrix_.value_ = np.array([value for row in rows for value in row[1]], float)
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[whole] for whole in integer]
    highs = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("time_limit", limit), ("mip_rel_gap", 1e-9)):
        highs.setOptionValue(option, value)
    highs.passModel(lp)
    start = time.process_time()
    highs.run()
    seconds = time.process_time() - start
    optimal = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    value = highs.getInfo().objective_function_value if optimal else None
    return {"value": value, "status": "optimal" if optimal else "stopped", "seconds": seconds}


def main():
    folder, limit = Path(sys.argv[1]), float(sys.argv[2])
    graphs = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
    print(json.dumps([solve(json.loads(path.read_text()), limit) for path in graphs]))


main()
