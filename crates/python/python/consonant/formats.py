"""Files of text and data: converted, checked, read as columns of Arrow.

>>> import tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "names.tsv").write_text("in\\tO\\nKiel\\tB-LOC\\n\\n")
>>> convert(folder / "names.tsv", "conllu").splitlines()[1].split("\\t")[-1]
'NER=B-LOC'
>>> check(folder / "names.tsv")["ok"]
True
"""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Union

from . import _consonant
from ._consonant import ConlluStream

__all__ = ["ConlluStream", "check", "conllu", "convert"]

File = Union[str, "os.PathLike[str]"]
Files = Union[File, Iterable[File]]


def _listed(files: Files) -> list[File]:
    return [files] if isinstance(files, (str, os.PathLike)) else list(files)


def conllu(files: Files, *, batch_size: int = 1024) -> ConlluStream:
    """Files of CoNLL-U, compressed or not, as a lazy stream of Arrow: a row for each sentence, in memory that does not grow with the files.

    ``pyarrow.table(stream)``, ``polars.DataFrame(stream)`` and the like read it; ``pyarrow.RecordBatchReader.from_stream(stream)`` and a loop over it read it
    batch by batch. It can be read again and again.

    >>> import tempfile, pathlib, pyarrow
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.conllu"
    >>> _ = path.write_text("# sent_id = 1\\n1\\tGo\\tgo\\tVERB\\t_\\t_\\t0\\troot\\t_\\t_\\n\\n")
    >>> pyarrow.table(conllu(path)).to_pylist()[0]["tokens"][0]["upos"]
    'VERB'
    """
    return ConlluStream(_listed(files), batch_size)


def convert(
    files: Files,
    to: str,
    *,
    source: str | None = None,
    scheme: str | None = None,
    source_scheme: str | None = None,
    repair: bool = False,
    output: File | None = None,
) -> str | None:
    """Files in another format (``conllu``, ``columns``, ``jsonl``, ``text``), as ``consonant convert`` does: returned, or written to ``output``.

    ``source`` and ``source_scheme`` are told by name and content; ``scheme`` is that in which entity labels go out.
    """
    return _consonant.convert_files(
        _listed(files), to, source=source, scheme=scheme, source_scheme=source_scheme, repair=repair, output=output
    )


def check(*files: File, source: str | None = None, scheme: str | None = None, limit: int | None = None) -> dict[str, Any]:
    """What is wrong with data, where, and what a trainer would make of it, as ``consonant check`` says. ``ok`` is whether there is no error, ``text`` the
    report for people."""
    report, text, wrong = _consonant.check_files(list(files), source=source, scheme=scheme, limit=limit)
    return {**json.loads(report), "ok": not wrong, "text": text}
