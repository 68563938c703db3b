"""spaCy: ``nlp.add_pipe("consonant_parser")``, ``"consonant_names"``, ``"consonant_lemmas"``; entry points make the names known.

:func:`to_spacy` and :func:`from_spacy` turn documents of one kind into documents of the other.
"""

from __future__ import annotations

import os
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from . import _consonant, load
from .nlp import Nlp

__all__ = ["Component", "from_spacy", "make_lemmas", "make_names", "make_parser", "to_spacy"]


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
        annotated = self.nlp.annotate_conllu("".join(_conllu(group, tree=False) for group in groups))
        heads = {token.i: token.i for token in doc}
        for group, sentence in zip(groups, annotated.sents):
            for token, word in zip(group, sentence):
                if "tags" in self.layers:
                    token.pos_, token.tag_ = word.upos or "", word.xpos or ""
                    token.set_morph(word.feats)
                if "lemmas" in self.layers:
                    token.lemma_ = word.lemma or ""
                if "tree" in self.layers and word.head is not None:
                    heads[token.i] = token.i if word.head == 0 else group[word.head - 1].i
                    token.dep_ = "ROOT" if word.head == 0 else word.deprel or ""
        if "tree" in self.layers:
            _hang(doc, heads)
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


def _hang(doc: Any, heads: dict[int, int]) -> None:
    """Sets all heads at once, by number: spaCy's sentences follow from them. White space hangs from the word before it, as in spaCy's own trees."""
    words = [token.i for token in doc if not token.is_space]
    before = words[0]
    for token in doc:
        if token.is_space:
            heads[token.i] = before
        else:
            before = token.i
    made = Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        heads=[heads[token.i] for token in doc],
        deps=[token.dep_ or "dep" for token in doc],
    )
    doc.from_array(["HEAD", "DEP"], made.to_array(["HEAD", "DEP"]))


def _conllu(tokens: list[Any], *, tree: bool) -> str:
    """A sentence for our reader, with what spaCy knows of its words."""
    places = {token.i: number for number, token in enumerate(tokens, 1)}
    lines = []
    for number, token in enumerate(tokens, 1):
        # A head outside of the sentence is none.
        head = 0 if token.head.i == token.i else places.get(token.head.i)
        known = tree and token.dep_ and head is not None
        name = f"NER={token.ent_iob_}-{token.ent_type_}" if tree and token.ent_iob_ in ("B", "I") else ""
        space = "" if token.whitespace_ else "SpaceAfter=No"
        cells = [
            " ".join(token.text.split()),
            token.lemma_ if tree else "",
            token.pos_,
            token.tag_,
            str(token.morph) if tree else "",
            str(head) if known else "",
            ("root" if head == 0 else token.dep_) if known else "",
            "",
            "|".join(filter(None, (name, space))),
        ]
        lines.append("\t".join([str(number), *(cell or "_" for cell in cells)]))
    return "\n".join(lines) + "\n\n"


def from_spacy(doc: Any) -> _consonant.Doc:
    """A document of spaCy's as one of ours, with the sentences, tags, lemmas, tree and names that it has."""
    sentences = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    groups = ([token for token in sentence if not token.is_space] for sentence in sentences)
    return _consonant.Doc.parse("".join(_conllu(group, tree=True) for group in groups if group))


def to_spacy(doc: _consonant.Doc, vocab: Any = None) -> Any:
    """A document of ours as one of spaCy's; ``spacy.tokens.DocBin(docs=map(to_spacy, docs))`` keeps many."""
    words: list[_consonant.Token] = []
    starts, heads, names = [], [], []
    for sentence in doc.sents:
        first = len(words)
        for word in sentence:
            starts.append(len(words) == first)
            heads.append(first + word.head - 1 if word.head else len(words))
            names.append(word.ent)
            words.append(word)
    known = all(word.head is not None for word in words)
    ends = [word.start_char for word in words[1:]] + [0]
    return Doc(
        Vocab() if vocab is None else vocab,
        words=[word.text for word in words],
        spaces=[doc.text[word.end_char : end] != "" for word, end in zip(words, ends)],
        pos=[word.upos or "" for word in words],
        tags=[word.xpos or "" for word in words],
        morphs=[word.feats or "" for word in words],
        lemmas=[word.lemma or "" for word in words],
        heads=heads if known else None,
        deps=["ROOT" if word.head == 0 else word.deprel or "" for word in words] if known else None,
        sent_starts=None if known else starts,
        ents=names,
    )


@Language.factory(
    "consonant_parser",
    assigns=["token.pos", "token.tag", "token.morph", "token.dep", "token.head", "doc.sents"],
    default_config={"models": None},
)
def make_parser(nlp: Language, name: str, models: str | None) -> Component:
    """Tags and trees."""
    return Component(models, ["tags", "tree"])


@Language.factory("consonant_lemmas", assigns=["token.lemma"], default_config={"models": None})
def make_lemmas(nlp: Language, name: str, models: str | None) -> Component:
    """Lemmas."""
    return Component(models, ["lemmas"])


@Language.factory("consonant_names", assigns=["doc.ents"], default_config={"models": None})
def make_names(nlp: Language, name: str, models: str | None) -> Component:
    """Names."""
    return Component(models, ["entities"])
