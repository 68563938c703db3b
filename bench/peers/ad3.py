"""AD3 in C++ on a problem file: `ad3.py PROBLEM LP_VALUE MOST` prints seconds, iterations and the value as JSON.

It reports no bound; it is run with 125, 250, 500, … iterations until its value is within 1e-4 of the LP value, with its own default step size
and adaptation. The clock runs around the solver alone. Works on Python 3.8, where the package builds.
"""

import json
import sys
import time

# The package has this script's name: look for it before this folder.
sys.path.append(sys.path.pop(0))

import ad3.factor_graph  # noqa: E402

import problems  # noqa: E402


def build(problem):
    graph = ad3.factor_graph.PFactorGraph()
    if problem.logical:
        variables = [graph.create_binary_variable() for _ in problem.states]
        for scope, table in problem.tables:
            if len(scope) > 1:
                raise SystemExit("pairs are not handed to AD3")
            variables[scope[0]].set_log_potential(float(table[1] - table[0]))
        for scope, coefficients, low, high in problem.constraints:
            links = [variables[variable] for variable in scope]
            if any(abs(coefficient) != 1 for coefficient in coefficients):
                graph.create_factor_knapsack(links, coefficients, high)
                continue
            negated = [coefficient < 0 for coefficient in coefficients]
            one = 1 - sum(negated)
            kinds = {(True, True): "XOR", (True, False): "OR", (False, True): "ATMOSTONE"}
            graph.create_factor_logic(kinds[low == one, high == one], links, negated)
        return graph
    variables = [graph.create_multi_variable(states) for states in problem.states]
    for scope, table in problem.tables:
        if len(scope) == 1:
            for state, score in enumerate(table):
                variables[scope[0]].set_log_potential(state, float(score))
    for scope, table in problem.tables:
        if len(scope) > 1:
            graph.create_factor_dense([variables[variable] for variable in scope], table.ravel().tolist())
    return graph


def solve(problem, lp, most):
    iterations = 125
    while True:
        graph = build(problem)
        start = time.perf_counter()
        value, _, _, status = graph.solve(max_iter=iterations, tol=1e-9)
        seconds = time.perf_counter() - start
        close = abs(value - lp) <= 1e-4 * abs(lp)
        if close or 2 * iterations > most:
            return {"seconds": seconds, "iterations": iterations, "value": value, "status": status, "close": close}
        iterations *= 2


if __name__ == "__main__":
    print(json.dumps(solve(problems.read(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))
