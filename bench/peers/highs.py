"""HiGHS on a problem file: `highs.py PROBLEM lp|ipm|ilp SECONDS` prints value, bound, status and seconds as JSON.

`lp` and `ipm` solve the local-polytope relaxation by HiGHS's own choice (simplex) and by interior point; `ilp` the problem itself. The
clock runs around the solver alone.
"""

import json
import sys
import time

import highspy
import numpy as np

import problems
import programs


def solve(problem, method, limit):
    program, places, constant = programs.relax(problem)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(program.cost), len(program.row_lower)
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.offset_ = constant
    lp.col_cost_ = np.array(program.cost)
    lp.col_lower_, lp.col_upper_ = np.zeros(lp.num_col_), np.array(program.upper)
    lp.row_lower_, lp.row_upper_ = np.array(program.row_lower), np.array(program.row_upper)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.array(program.starts)
    lp.a_matrix_.index_ = np.array(program.indices)
    lp.a_matrix_.value_ = np.array(program.values, float)
    if method == "ilp":
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[integer] for integer in program.integer]
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("time_limit", limit)
    if method == "ilp":
        highs.setOptionValue("mip_rel_gap", 1e-6)
    elif method == "ipm":
        highs.setOptionValue("solver", "ipm")
    highs.passModel(lp)
    start = time.perf_counter()
    highs.run()
    seconds = time.perf_counter() - start
    status, info = highs.getModelStatus(), highs.getInfo()
    names = {highspy.HighsModelStatus.kOptimal: "optimal", highspy.HighsModelStatus.kInfeasible: "infeasible"}
    answer = {"status": names.get(status, "stopped"), "seconds": seconds, "value": None, "bound": None}
    if method == "ilp":
        answer["bound"] = info.mip_dual_bound if np.isfinite(info.mip_dual_bound) else None
        if info.primal_solution_status == 2:
            answer["value"] = programs.Choice(problem, places).value(highs.getSolution().col_value)
    elif answer["status"] == "optimal":
        answer["value"] = answer["bound"] = info.objective_function_value
    return answer


if __name__ == "__main__":
    print(json.dumps(solve(problems.read(sys.argv[1]), sys.argv[2], float(sys.argv[3]))))
