"""SCIP on a problem file: `scip.py PROBLEM SECONDS` prints value, bound, status and seconds as JSON.

It gets the columns and rows that HiGHS gets. The clock runs around the solver alone.
"""

import json
import math
import sys
import time

from pyscipopt import Model, quicksum

import problems
import programs


def solve(problem, limit):
    program, places, constant = programs.relax(problem)
    model = Model()
    model.hideOutput()
    columns = [
        model.addVar(vtype="B" if integer else "C", lb=0.0, ub=float(upper), obj=float(cost))
        for cost, upper, integer in zip(program.cost, program.upper, program.integer)
    ]
    model.setMaximize()
    model.addObjoffset(constant)
    for row, (low, high) in enumerate(zip(program.row_lower, program.row_upper)):
        entries = range(program.starts[row], program.starts[row + 1])
        amount = quicksum(program.values[entry] * columns[program.indices[entry]] for entry in entries)
        if low == high:
            model.addCons(amount == low)
        elif low > -math.inf and high < math.inf:
            model.addCons((low <= amount) <= high)
        elif low > -math.inf:
            model.addCons(amount >= low)
        else:
            model.addCons(amount <= high)
    model.setParam("limits/time", limit)
    model.setParam("limits/gap", 1e-6)
    start = time.perf_counter()
    model.optimize()
    seconds = time.perf_counter() - start
    names = {"optimal": "optimal", "gaplimit": "optimal", "infeasible": "infeasible"}
    answer = {"status": names.get(model.getStatus(), "stopped"), "seconds": seconds, "value": None, "bound": model.getDualbound()}
    if model.getNSols() > 0:
        best = model.getBestSol()
        answer["value"] = programs.Choice(problem, places).value([best[column] for column in columns])
    return answer


if __name__ == "__main__":
    print(json.dumps(solve(problems.read(sys.argv[1]), float(sys.argv[2]))))
