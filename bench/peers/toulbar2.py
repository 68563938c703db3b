"""toulbar2 on a problem file: `toulbar2.py PROBLEM SECONDS` prints value, bound, status and seconds as JSON.

Costs are negated log-potentials with six decimals. The clock runs around the solver alone.
"""

import json
import math
import sys
import time

import numpy as np
import pytoulbar2

import problems

DECIMALS = 6


def solve(problem, limit):
    network = pytoulbar2.CFN(resolution=DECIMALS)
    finite = [table[np.isfinite(table)] for _, table in problem.tables]
    dear = 1.0 + sum(float(np.ptp(scores)) for scores in finite if scores.size)
    for variable, states in enumerate(problem.states):
        network.AddVariable(f"x{variable}", range(states))
    for scope, table in problem.tables:
        if len(scope) == 0:
            network.AddFunction([], -float(table))
        else:
            # Infinite costs over four and more variables crash it; there, dearer than all else together says the same.
            forbidden = math.inf if len(scope) < 4 else dear
            network.AddFunction(list(scope), [forbidden if score == -math.inf else -float(score) for score in table.ravel()])
    for variables, coefficients, low, high in problem.constraints:
        whole = [int(coefficient) for coefficient in coefficients]
        if low == high:
            network.AddLinearConstraint(whole, variables, "==", int(low))
        elif high < math.inf:
            network.AddLinearConstraint(whole, variables, "<=", int(high))
        else:
            network.AddLinearConstraint(whole, variables, ">=", int(low))
    start, worked = time.perf_counter(), time.process_time()
    found = network.Solve(timeLimit=int(limit))
    seconds = time.perf_counter() - start
    worked = time.process_time() - worked  # what its limit counts
    value, bound = (problem.value(found[0]) if found else None), -network.GetDDualBound()
    # It does not tell whether it finished: a finished search has closed the gap, or ended early without a solution.
    finished = bound - -network.GetUB() < 2 * 10**-DECIMALS if found else worked < 0.9 * limit
    status = "stopped" if not finished else "optimal" if found else "infeasible"
    return {
        "status": status,
        "seconds": seconds,
        "value": value if value is not None and math.isfinite(value) else None,
        "bound": bound if status == "stopped" else value,
    }


if __name__ == "__main__":
    print(json.dumps(solve(problems.read(sys.argv[1]), float(sys.argv[2]))))
