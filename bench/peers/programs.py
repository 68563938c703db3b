"""Problems as linear programs with integers, for peers that solve such."""

import math

import numpy as np


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
            program.row([pair, first], [1.0, -1.0], -math.inf, 0.0)
            program.row([pair, second], [1.0, -1.0], -math.inf, 0.0)
            program.row([pair, first, second], [1.0, -1.0, -1.0], -1.0, math.inf)
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


class Choice:
    """Reads assignments off the columns of a program that `relax` made."""

    def __init__(self, problem, places):
        self.problem, self.places = problem, places

    def value(self, point):
        """What the assignment is worth that the columns' values say, None where that breaks a constraint."""
        point = np.asarray(point)
        if self.problem.logical:
            states = [int(point[place + 1] > 0.5) for place in self.places]
        else:
            states = [int(point[place : place + states].argmax()) for place, states in zip(self.places, self.problem.states)]
        value = self.problem.value(states)
        return value if math.isfinite(value) else None
