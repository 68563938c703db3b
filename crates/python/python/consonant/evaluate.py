"""The field's scorers on files: CoNLL-U, columns or JSONL. Each returns a plain dictionary.

>>> import tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "gold.tsv").write_text("Kiel\\tB-LOC\\n\\n")
>>> _ = (folder / "predicted.tsv").write_text("Kiel\\tB-PER\\n\\n")
>>> entities(folder / "gold.tsv", folder / "predicted.tsv")["f1"]
0.0
"""

from __future__ import annotations

import json
import os
from typing import Any, Union

from . import _consonant

__all__ = ["entities", "links", "summary", "table", "tags", "trees"]

File = Union[str, "os.PathLike[str]"]
Scores = dict[str, Any]


def _scores(scored: tuple[str, str]) -> Scores:
    return dict(json.loads(scored[0]))


def tags(gold: File, predicted: File, *, column: str | None = None, train: File | None = None) -> Scores:
    """Accuracy of tags: ``accuracy`` and, given the training data, ``unknown_accuracy``."""
    return _scores(_consonant.evaluate_tags(gold, predicted, column, train))


def entities(gold: File, predicted: File) -> Scores:
    """Entities as conlleval counts them: ``precision``, ``recall``, ``f1``, ``macro_f1``, ``by_type``."""
    return _scores(_consonant.evaluate_entities(gold, predicted))


def trees(gold: File, predicted: File) -> Scores:
    """The scores of the CoNLL 2018 shared task by their names: ``UAS``, ``LAS``, …"""
    return _scores(_consonant.evaluate_trees(gold, predicted))


def summary(gold: File, predicted: File, *, words: int | None = None, stemming: bool = True) -> Scores:
    """ROUGE by the rules of ROUGE-1.5.5: ``rouge_1``, ``rouge_2``, ``rouge_l``, ``rouge_su4``."""
    return _scores(_consonant.evaluate_summary(gold, predicted, words, stemming))


def links(gold: File, predicted: File) -> Scores:
    """Links between the messages of conversations: ``precision``, ``recall``, ``f1``."""
    return _scores(_consonant.evaluate_links(gold, predicted))


def table(scorer: str, gold: File, predicted: File) -> str:
    """What the original scorer prints, by the name of the function here."""
    printed: tuple[str, str] = getattr(_consonant, f"evaluate_{scorer}")(gold, predicted)
    return printed[1]
