"""OR-Tools CP-SAT on a problem file: `cpsat.py PROBLEM SECONDS` prints value, bound, status and seconds as JSON.

It gets the columns and rows that HiGHS gets, all columns 0 or 1, and one worker. The clock runs around the solver alone.
"""

import json
import math
import sys
import time

import numpy as np
from ortools.sat.python import cp_model

import problems
import programs


def solve(problem, limit):
    program, places, constant = programs.relax(problem)
    model = cp_model.CpModel()
    columns = [model.new_int_var(0, int(upper), "") for upper in program.upper]
    for row, (low, high) in enumerate(zip(program.row_lower, program.row_upper)):
        entries = slice(program.starts[row], program.starts[row + 1])
        members = [columns[index] for index in program.indices[entries]]
        coefficients = [int(coefficient) for coefficient in program.values[entries]]
        low = cp_model.INT32_MIN if low == -math.inf else int(low)
        high = cp_model.INT32_MAX if high == math.inf else int(high)
        model.add_linear_constraint(cp_model.LinearExpr.weighted_sum(members, coefficients), low, high)
    model.maximize(cp_model.LinearExpr.weighted_sum(columns, np.array(program.cost)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.relative_gap_limit = 1e-6
    start = time.perf_counter()
    status = solver.solve(model)
    seconds = time.perf_counter() - start
    names = {cp_model.OPTIMAL: "optimal", cp_model.INFEASIBLE: "infeasible"}
    answer = {"status": names.get(status, "stopped"), "seconds": seconds, "value": None, "bound": solver.best_objective_bound + constant}
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        answer["value"] = programs.Choice(problem, places).value([solver.value(column) for column in columns])
    return answer


if __name__ == "__main__":
    print(json.dumps(solve(problems.read(sys.argv[1]), float(sys.argv[2]))))
