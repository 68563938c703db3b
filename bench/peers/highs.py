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


class Columns:
    """A linear program that grows column by column and row by row."""

    def __init__(self):
        self.cost, self.upper, self.integer = [], [], []
        self.starts, self.indices, self.values, self.row_lower, self.row_upper = [0], [], [], [], []

    def columns(self, costs, integer, upper=1.0):
        """Adds columns and returns the first one's number; a cost of -inf means that the column must be 0."""
        first = len(self.cost)
        costs = np.asarray(costs, float)
        forbidden = np.isneginf(costs)
        self.cost.extend(np.where(forbidden, 0.0, costs))
        self.upper.extend(np.where(forbidden, 0.0, upper))
        self.integer.extend([integer] * len(costs))
        return first

    def row(self, indices, values, low, high):
        self.indices.extend(indices)
        self.values.extend(values)
        self.starts.append(len(self.indices))
        self.row_lower.append(low)
        self.row_upper.append(high)


def relax(problem):
    """The local polytope of a problem, the columns of each variable's states, and a constant."""
    program, constant = Columns(), 0.0
    unary = [np.zeros(states) for states in problem.states]
    for scope, table in problem.tables:
        if len(scope) == 0:
            constant += float(table)
        elif len(scope) == 1:
            unary[scope[0]] = unary[scope[0]] + table
    if problem.logical:  # one column for "is 1"
        places = [program.columns(scores[1:] - scores[0], True) - 1 for scores in unary]
        constant += sum(scores[0] for scores in unary)
    else:
        places = [program.columns(scores, True) for scores in unary]
        for place, states in zip(places, problem.states):
            program.row(range(place, place + states), [1.0] * states, 1.0, 1.0)
    for scope, table in problem.tables:
        if len(scope) < 2:
            continue
        if problem.logical:  # both true
            pair = program.columns([table[1, 1]], False)
            first, second = (places[variable] + 1 for variable in scope)
            program.row([pair, first], [1.0, -1.0], -highspy.kHighsInf, 0.0)
            program.row([pair, second], [1.0, -1.0], -highspy.kHighsInf, 0.0)
            program.row([pair, first, second], [1.0, -1.0, -1.0], -1.0, highspy.kHighsInf)
            continue
        first = program.columns(table.ravel(), False)
        configurations = np.arange(first, first + table.size).reshape(table.shape)
        for axis, variable in enumerate(scope):
            for state in range(problem.states[variable]):
                those = configurations.take(state, axis).ravel()
                program.row([*those, places[variable] + state], [1.0] * those.size + [-1.0], 0.0, 0.0)
    for variables, coefficients, low, high in problem.constraints:
        program.row([places[variable] + 1 for variable in variables], coefficients, low, high)
    return program, places, constant


def solve(problem, method, limit):
    program, places, constant = relax(problem)
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
            point = np.array(highs.getSolution().col_value)
            pick = (lambda place, _: int(point[place + 1] > 0.5)) if problem.logical else (lambda place, states: int(point[place : place + states].argmax()))
            value = problem.value([pick(place, states) for place, states in zip(places, problem.states)])
            answer["value"] = value if np.isfinite(value) else None
    elif answer["status"] == "optimal":
        answer["value"] = answer["bound"] = info.objective_function_value
    return answer


if __name__ == "__main__":
    print(json.dumps(solve(problems.read(sys.argv[1]), sys.argv[2], float(sys.argv[3]))))
