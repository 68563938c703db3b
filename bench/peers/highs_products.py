"""HiGHS on a problem of `consonant solve` whose factors are products and counts: `highs_products.py PROBLEM.json SECONDS` prints JSON.

Pairs and patterns get a column each, linked to their members in the usual way; the clock runs around the solver alone.
"""

import json
import sys
import time
from pathlib import Path

import highspy
import numpy as np

COUNTS = {"exactly-one": (1, 1), "at-most-one": (0, 1), "at-least-one": (1, highspy.kHighsInf)}


def main(path, limit):
    problem = json.loads(Path(path).read_text())
    number = {variable["name"]: index for index, variable in enumerate(problem["variables"])}
    costs = [variable["score"] for variable in problem["variables"]]
    rows = []  # (indices, values, low, high)
    for factor in problem["factors"]:
        members = [number[name] for name in factor["over"]]
        if factor["kind"] in COUNTS:
            rows.append((members, [1.0] * len(members), *COUNTS[factor["kind"]]))
            continue
        product = len(costs)
        costs.append(factor["score"])
        rows += [([product, member], [1.0, -1.0], -highspy.kHighsInf, 0.0) for member in members]
        rows.append(([product, *members], [1.0] + [-1.0] * len(members), 1.0 - len(members), highspy.kHighsInf))
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(costs), len(rows)
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.array(costs), np.zeros(len(costs)), np.ones(len(costs))
    lp.row_lower_, lp.row_upper_ = np.array([row[2] for row in rows], float), np.array([row[3] for row in rows], float)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0] + [len(row[0]) for row in rows])
    lp.a_matrix_.index_ = np.concatenate([row[0] for row in rows])
    lp.a_matrix_.value_ = np.concatenate([row[1] for row in rows]).astype(float)
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[column < len(number)] for column in range(len(costs))]
    highs = highspy.Highs()
    for option, setting in {"output_flag": False, "threads": 1, "time_limit": limit, "mip_rel_gap": 1e-6}.items():
        highs.setOptionValue(option, setting)
    highs.passModel(lp)
    start = time.perf_counter()
    highs.run()
    seconds = time.perf_counter() - start
    proven = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    info = highs.getInfo()
    value = info.objective_function_value if info.primal_solution_status == 2 else None
    print(json.dumps({"status": "optimal" if proven else "stopped", "seconds": seconds, "value": value}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
