"""Chat logs: who answers whom."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

from . import _consonant


class Conversation:
    """Messages and links between them; a notebook draws it."""

    def __init__(self, record: dict[str, Any], svg: str) -> None:
        self._svg = svg
        #: The messages, in order, each with ``author``, ``time`` and ``text``.
        self.messages: list[dict[str, Any]] = record["units"]
        #: Pairs (source, target), counted from 0: the source answers the target. Who begins something answers nobody.
        self.links: list[tuple[int, int]] = [(source, target) for source, target in record["links"]]

    def __repr__(self) -> str:
        return f"<Conversation of {len(self.messages)} messages and {len(self.links)} links>"

    def _repr_svg_(self) -> str:
        return self._svg


def link(
    log: str | Mapping[str, Any], *, model: str | os.PathLike[str] | None = None, threads: int | None = None, **options: Any
) -> Conversation:
    """Says who answers whom in a chat log, a message a line with time and author before it in any of the usual forms, or a record with
    ``id`` and ``units``.

    ``model`` is one that a :class:`Linker` saved (default: the embedded one); ``options`` are those of ``consonant link``.

    >>> log = link("[10:03] <anna> which modem?\\n[10:04] <bob> anna: the blue one\\n")
    >>> [message["author"] for message in log.messages], log.links
    (['anna', 'bob'], [(1, 0)])
    """
    text = log if isinstance(log, str) else json.dumps(dict(log))
    given = json.dumps({name: value for name, value in options.items() if value is not None})
    record, svg = _consonant.link(text, given, model=model, threads=threads)
    return Conversation(json.loads(record), svg)
