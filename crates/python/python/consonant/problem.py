"""Scores and constraints of one's own."""

from __future__ import annotations

import os
from typing import TypeVar

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
    """

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
