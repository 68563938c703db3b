"""Reads the problem files into tables and linear constraints, for peers that want them so."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass
class Problem:
    """Maximize the tables' entries under the constraints. `logical` problems have binary variables with one score each."""

    states: list
    tables: list = field(default_factory=list)  # (scope, log-potentials shaped like the scope's states)
    constraints: list = field(default_factory=list)  # (variables, coefficients of being 1, lower, upper)
    logical: bool = False

    def value(self, assignment):
        """The score of an assignment; -inf where a constraint or a table forbids it."""
        total = math.fsum(float(table[tuple(assignment[variable] for variable in scope)]) for scope, table in self.tables)
        for variables, coefficients, low, high in self.constraints:
            amount = sum(coefficient * assignment[variable] for variable, coefficient in zip(variables, coefficients))
            if not low - 1e-6 <= amount <= high + 1e-6:
                return -math.inf
        return total


def read(path):
    path = Path(path)
    if path.suffix == ".json":
        return coverage(json.loads(path.read_text()))
    tokens = path.read_text().split()
    return logic(tokens) if path.suffix == ".fg" else uai(tokens, logarithms=path.suffix == ".loguai")


def uai(tokens, logarithms):
    words = iter(tokens[1:])
    count = int(next(words))
    states = [int(next(words)) for _ in range(count)]
    scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
    merged = {}
    for scope in scopes:
        size = int(next(words))
        entries = np.array([float(next(words)) for _ in range(size)])
        if not logarithms:
            with np.errstate(divide="ignore"):
                entries = np.log(entries)
        table = entries.reshape([states[variable] for variable in scope])
        order = sorted(range(len(scope)), key=scope.__getitem__)
        key = tuple(scope[place] for place in order)
        table = table.transpose(order) if scope else table
        merged[key] = merged[key] + table if key in merged else table
    return Problem(states, list(merged.items()))


def logic(tokens):
    words = iter(tokens)
    count, factors = int(next(words)), int(next(words))
    problem = Problem([2] * count, logical=True)
    for variable in range(count):
        problem.tables.append(((variable,), np.array([0.0, float(next(words))])))
    for _ in range(factors):
        kind, degree = next(words), int(next(words))
        literals = [int(next(words)) for _ in range(degree)]
        variables = [abs(literal) - 1 for literal in literals]
        signs = [1.0 if literal > 0 else -1.0 for literal in literals]
        negated = sum(sign < 0 for sign in signs)
        add = lambda low, high: problem.constraints.append((variables, signs, low - negated, high - negated))
        if kind == "XOR":
            add(1, 1)
        elif kind == "OR":
            add(1, math.inf)
        elif kind == "ATMOSTONE":
            add(-math.inf, 1)
        elif kind == "IMPLY" and degree == 2:  # not the first, or the second
            signs[0] = -signs[0]
            negated = sum(sign < 0 for sign in signs)
            add(1, math.inf)
        elif kind == "PAIR" and degree == 2 and signs == [1.0, 1.0]:
            problem.tables.append((tuple(variables), np.array([[0.0, 0.0], [0.0, float(next(words))]])))
        else:
            raise SystemExit(f"the peers' reader does not know {kind} with {degree} links")
    return problem


def coverage(data):
    """Sentences first, then concepts; a concept counts if one of its sentences is chosen."""
    sentences, concepts = len(data["lengths"]), len(data["weights"])
    problem = Problem([2] * (sentences + concepts), logical=True)
    for concept, weight in enumerate(data["weights"]):
        problem.tables.append(((sentences + concept,), np.array([0.0, float(weight)])))
    problem.constraints.append((list(range(sentences)), [float(length) for length in data["lengths"]], -math.inf, float(data["budget"])))
    for concept, covering in enumerate(data["sentences_of_concept"]):
        problem.constraints.append(([*covering, sentences + concept], [1.0] * len(covering) + [-1.0], 0.0, math.inf))
    return problem
