"""Scores and constraints of one's own."""

from __future__ import annotations

import json
import os
from typing import Any, TypeVar

from . import _consonant

P = TypeVar("P", bound="Problem")


class Problem(_consonant.Problem):
    """Variables with scores and factors that tie them together; the sum of all scores is to be maximized.

    >>> p = Problem()
    >>> fish, curry, salad = p.binary("fish", 3.0), p.binary("curry", 2.5), p.binary("salad", 1.5)
    >>> drink = p.variable("drink", ["tea", "wine"], scores=[0.0, 0.4])
    >>> _ = p.knapsack([fish, curry, salad], [7.0, 5.0, 3.0], 10.0)
    >>> _ = p.implies(drink["wine"], fish)
    >>> s = p.solve()
    >>> s.status, s[fish], s[~curry], s[drink]
    ('optimal', True, True, 'wine')
    >>> s.value, s.certificate.verify()
    (4.9, True)

    A constraint may be broken at a price:

    >>> _ = p.soft(p.at_most_one(fish, salad), penalty=0.25)
    >>> round(p.solve().value, 6)
    4.65

    What is known already, the next best, and what each state is worth (or, where nothing is possible, which constraints contradict each other):

    >>> p.forbid(drink["wine"])
    >>> [round(s.value, 6) for s in p.n_best(2)]
    [4.25, 4.0]
    >>> round(p.explain()["otherwise"]["fish"]["loss"], 6)
    0.25
    """

    def explain(
        self,
        method: str = "exact",
        *,
        time_limit: float | None = None,
        max_iterations: int | None = None,
        gap: float = 1e-6,
        threads: int | None = None,
    ) -> dict[str, Any]:
        """Solves the problem and says ``status`` and, in ``otherwise``, for each variable its ``state``, the best ``instead``, and the ``loss``
        at least if it were so; where there is no solution, in ``conflict``, which ``constraints`` contradict each other, whether they are the
        ``smallest`` such set and whether a checker that knows no solver ``verified`` it. Solves a problem for each."""
        told: dict[str, Any] = json.loads(self._explain(method, time_limit, max_iterations, gap, threads))
        return told

    @classmethod
    def parse(cls: type[P], text: str, name: str = "problem.json") -> P:
        """A problem in UAI, log-UAI, AD3's form or JSON, told by the name's ending and the text."""
        problem = cls()
        problem._load(text, name)
        return problem

    @classmethod
    def read(cls: type[P], path: str | os.PathLike[str]) -> P:
        """The problem of a file: UAI, log-UAI (``.loguai``), AD3's ``.fg`` or JSON."""
        with open(path, encoding="utf-8-sig") as file:
            return cls.parse(file.read(), os.fspath(path))
