"""spaCy: ``nlp.add_pipe("consonant_parser")``, ``"consonant_names"``; entry points make the names known."""

from __future__ import annotations

import os
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from . import load
from .nlp import Nlp

__all__ = ["Component", "make_names", "make_parser"]


class Component:
    """Fills in layers of spaCy's documents, on spaCy's tokens; sentences are those of the document, or ours where it has none."""

    def __init__(self, models: str | os.PathLike[str] | None, layers: list[str]) -> None:
        self.layers = layers
        self.models = None if models is None else os.fspath(models)
        self.nlp: Nlp = load(self.models, layers=layers)
        self.segmenter: Nlp = load(self.models, layers=[])

    def __call__(self, doc: Any) -> Any:
        words = [token for token in doc if not token.is_space]
        if not words:
            return doc
        groups = self._sentences(doc, words)
        annotated = self.nlp.annotate_conllu("".join(_conllu(group) for group in groups))
        heads = {token.i: token for token in doc}
        for group, sentence in zip(groups, annotated.sents):
            for token, word in zip(group, sentence):
                if "tags" in self.layers:
                    token.pos_, token.tag_ = word.upos or "", word.xpos or ""
                if "tree" in self.layers and word.head is not None:
                    heads[token.i] = token if word.head == 0 else group[word.head - 1]
                    token.dep_ = "ROOT" if word.head == 0 else word.deprel or ""
        if "tree" in self.layers:
            self._hang(doc, heads)
        if "entities" in self.layers:
            doc.ents = [
                Span(doc, group[name.start].i, group[name.end - 1].i + 1, label=name.label)
                for name in annotated.ents
                for group in [groups[name.sentence]]
            ]
        return doc

    def _sentences(self, doc: Any, words: list[Any]) -> list[list[Any]]:
        if doc.has_annotation("SENT_START"):
            sentences = ([token for token in sentence if not token.is_space] for sentence in doc.sents)
            return [sentence for sentence in sentences if sentence]
        ends = [sentence.end_char for sentence in self.segmenter(doc.text).sents]
        groups: list[list[Any]] = [[] for _ in range(len(ends) + 1)]
        place = 0
        for token in words:
            while place < len(ends) and token.idx >= ends[place]:
                place += 1
            groups[place].append(token)
        return [group for group in groups if group]

    @staticmethod
    def _hang(doc: Any, heads: dict[int, Any]) -> None:
        """Heads all at once: spaCy's sentences follow from them."""
        words = [token for token in doc if not token.is_space]
        for token in doc:
            if token.is_space:  # hangs from a neighbour, as in spaCy's own trees
                before = [word for word in words if word.i < token.i]
                heads[token.i] = before[-1] if before else words[0]
        numbers = [heads[token.i].i for token in doc]
        made = Doc(
            doc.vocab,
            words=[token.text for token in doc],
            spaces=[bool(token.whitespace_) for token in doc],
            heads=numbers,
            deps=[token.dep_ or "dep" for token in doc],
        )
        doc.from_array(["HEAD", "DEP"], made.to_array(["HEAD", "DEP"]))


def _conllu(tokens: list[Any]) -> str:
    fields = ("_", "{pos}", "{tag}", "_", "_", "_", "_", "_")
    lines = []
    for number, token in enumerate(tokens, 1):
        cells = [cell.format(pos=token.pos_ or "_", tag=token.tag_ or "_") for cell in fields]
        lines.append("\t".join([str(number), token.text, *cells]))
    return "\n".join(lines) + "\n\n"


@Language.factory("consonant_parser", assigns=["token.pos", "token.tag", "token.dep", "token.head", "doc.sents"], default_config={"models": None})
def make_parser(nlp: Language, name: str, models: str | None) -> Component:
    """Tags and trees."""
    return Component(models, ["tags", "tree"])


@Language.factory("consonant_names", assigns=["doc.ents"], default_config={"models": None})
def make_names(nlp: Language, name: str, models: str | None) -> Component:
    """Names."""
    return Component(models, ["entities"])
