"""Raw text to documents, summaries and columns."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Iterator, NamedTuple, Sequence, Sized

from . import _consonant
from ._consonant import Certificate, Doc
from .errors import UsageError
from .progress import Progress, counted


def load(folder: str | os.PathLike[str] | None = None, *, layers: Iterable[str] | None = None) -> Nlp:
    """Opens the embedded English models, or those of a folder; takes milliseconds.

    ``layers`` are those wanted among ``tags``, ``lemmas``, ``entities`` and ``tree`` (``tokens`` for none of them); all that there are models for without it.

    >>> load(layers=["tags"])
    <Nlp by the embedded English models: tags>
    """
    return Nlp(folder, None if layers is None else list(layers))


class Nlp(_consonant.Nlp):
    """Models that turn text into documents. Safe to share between threads; the GIL is released while they work.

    >>> nlp = load()
    >>> doc = nlp("Ann Smith can't come. She works for Google.")
    >>> [len(sentence) for sentence in doc.sents]
    [6, 5]
    >>> [doc.text[name.start_char:name.end_char] for name in doc.ents]
    ['Ann Smith', 'Google']
    >>> [doc.certificates["tree"][0].status, doc.sents[1][1].head, doc.sents[1][1].deprel]
    ['optimal', 0, 'root']

    Many texts are annotated side by side, in order, and only as far as they are asked for:

    >>> [len(doc) for doc in nlp.pipe(["One two.", "Three."], threads=2)]
    [3, 2]
    """

    def pipe(  # type: ignore[override]
        self, texts: Iterable[str], *, threads: int | None = None, batch_size: int = 128, progress: Progress = None
    ) -> Iterator[Doc]:
        """Documents for texts, in order, as they are asked for; ``progress`` is called now and then with how many there are, ``True`` shows a bar."""
        total = len(texts) if isinstance(texts, Sized) else None
        documents: Iterator[Doc] = counted(super().pipe(texts, threads=threads, batch_size=batch_size), progress, total, "documents")
        return documents

    def summarize(  # type: ignore[override]
        self, texts: str | Sequence[str], *, names: Sequence[str] | None = None, threads: int | None = None, **options: Any
    ) -> Summary:
        """Summarizes documents about one thing, in words that they use.

        ``options`` are those of ``consonant summarize``: ``words``, ``sentences``, ``extractive`` and so on.

        >>> rain = ["Rain flooded the old town. Nobody was hurt.", "The old town was flooded by rain on Monday."]
        >>> summary = load().summarize(rain, words=8)
        >>> len(summary.text.split()) <= 8 and summary.certificate.value <= summary.certificate.bound
        True
        """
        texts = [texts] if isinstance(texts, str) else list(texts)
        names = [f"document {number}" for number in range(1, len(texts) + 1)] if names is None else list(names)
        if len(names) != len(texts):
            raise UsageError(f"{len(names)} names for {len(texts)} texts")
        given = {name: value for name, value in options.items() if value is not None}
        written, marked, certificate = super().summarize(texts, names, json.dumps(given), threads)
        return Summary(json.loads(written), marked, certificate)


class SummarySentence(NamedTuple):
    """A sentence of a summary."""

    text: str
    #: With what was deleted in brackets.
    marked: str
    #: The name and the number of the document that it comes from, and its number there.
    document: str
    document_index: int
    sentence_index: int
    #: All of its words with ``text``, ``start``, ``end`` (characters of the document) and ``kept``.
    words: list[dict[str, Any]]


class Summary:
    """A summary with its sources and its certificate."""

    def __init__(self, data: dict[str, Any], marked: Sequence[str], certificate: Certificate | None) -> None:
        self._data = data
        #: What is known about the best summary.
        self.certificate = certificate
        #: The sentences, in the order in which they are read.
        self.sentences = [
            SummarySentence(
                each["text"], shown, each["document"], each["document_index"], each["sentence_index"], each["words"]
            )
            for each, shown in zip(data["sentences"], marked)
        ]

    @property
    def text(self) -> str:
        """The summary, one sentence a line."""
        return str(self._data["summary"])

    @property
    def word_count(self) -> int:
        """Words of the summary, split at white space."""
        return int(self._data["word_count"])

    @property
    def concepts(self) -> list[dict[str, Any]]:
        """What the documents speak of, best first, with ``text``, ``weight``, ``documents`` and ``covered``."""
        return list(self._data["concepts"])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return dict(self._data)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Summary of {self.word_count} words in {len(self.sentences)} sentences>"

    def _repr_html_(self) -> str:
        import html

        lines = []
        for sentence in self.sentences:
            words = (
                html.escape(word["text"]) if word["kept"] else f'<del style="opacity:.5">{html.escape(word["text"])}</del>'
                for word in sentence.words
            )
            lines.append(f'<p>{" ".join(words)} <small>{html.escape(sentence.document)}</small></p>')
        return "\n".join(lines)
