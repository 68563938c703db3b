"""Data as people have it, turned into the files that tasks read: CoNLL-U for sentences, JSON lines for everything else."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Iterable, Iterator, Mapping, Sequence

from .errors import UsageError

#: The fields of CoNLL-U, and other names that people give them.
FIELDS = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
ALIASES = {"token": "form", "text": "form", "word": "form", "tag": "upos", "pos": "upos", "label": "entity", "ner": "entity"}


def scratch() -> contextlib.AbstractContextManager[str]:
    """A folder for as long as it is needed."""
    import tempfile

    return tempfile.TemporaryDirectory(prefix="consonant-")


def is_file(data: Any) -> bool:
    """Whether data are named by a path: a text with a line end is data itself."""
    return isinstance(data, os.PathLike) or (isinstance(data, str) and "\n" not in data)


def rows(data: Any) -> Any:
    """The rows of a table (pandas, polars, anything that speaks Arrow) as dictionaries; other data as they are."""
    if hasattr(data, "to_dicts"):
        return data.to_dicts()
    if hasattr(data, "to_dict") and hasattr(data, "columns"):
        return data.to_dict("records")
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        import pyarrow

        return pyarrow.table(data).to_pylist()
    return data


def sentences(data: Any, column: str) -> str:
    """Sentences in CoNLL-U.

    A sentence is a text in CoNLL-U, an object with ``to_conllu()`` (or one of the package ``conllu``), or a list of words: strings, pairs of word and label (for ``column``),
    or dictionaries with the fields of CoNLL-U. The rows of a table are words; ``sentence`` says which sentence they are of.

    >>> sentences([[("Dogs", "NOUN"), ("bark", "VERB")]], "upos").split("\\n")[0].split("\\t")[:4]
    ['1', 'Dogs', '_', 'NOUN']
    """
    data = rows(data)
    if isinstance(data, str):
        return _block(data)
    if hasattr(data, "to_conllu"):
        return _block(data.to_conllu())
    data = list(data)
    if data and isinstance(data[0], Mapping):
        data = _grouped(data)
    return "".join(_sentence(sentence, column) for sentence in data)


def _block(text: str) -> str:
    return text.rstrip("\n") + "\n\n"


def _grouped(words: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    groups: dict[Any, list[Mapping[str, Any]]] = {}
    for word in words:
        if "sentence" not in word:
            raise UsageError("a table of words needs a column `sentence` that says which sentence each word is of")
        groups.setdefault(word["sentence"], []).append(word)
    return list(groups.values())


def _sentence(sentence: Any, column: str) -> str:
    if isinstance(sentence, str):
        return _block(sentence)
    if hasattr(sentence, "to_conllu"):
        return _block(sentence.to_conllu())
    if hasattr(sentence, "serialize"):  # a sentence of the package `conllu`
        return _block(sentence.serialize())
    lines = []
    for number, word in enumerate(sentence, 1):
        fields = _fields(word, column)
        cells = [fields.get(name) for name in FIELDS]
        lines.append("\t".join([str(number), *("_" if cell is None or cell != cell else str(cell) for cell in cells)]))
    return "\n".join(lines) + "\n\n"


def _fields(word: Any, column: str) -> dict[str, Any]:
    if isinstance(word, str):
        return {"form": word}
    if isinstance(word, Mapping):
        fields = {ALIASES.get(str(name).lower(), str(name).lower()): value for name, value in word.items()}
    else:
        form, label = word
        parts = column.split("+")
        fields = {"form": form, **dict(zip(parts, [label] if len(parts) == 1 else label))}
    label = fields.pop("entity", None)
    if label is not None and label != "O":
        misc = fields.get("misc")
        fields["misc"] = f"NER={label}" if misc in (None, "_") else f"{misc}|NER={label}"
    return fields


def records(data: Any) -> str:
    """Records as JSON lines."""
    data = rows(data)
    if isinstance(data, str):
        return data if data.endswith("\n") else data + "\n"
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in data)


@contextlib.contextmanager
def files(data: Any, text: Any, ending: str) -> Iterator[list[str]]:
    """The files that data are in: those that are named, or one that is written for as long as it is needed."""
    if data is None:
        yield []
    elif is_file(data):
        yield [os.fspath(data)]
    elif isinstance(data, Sequence) and not isinstance(data, str) and len(data) and all(isinstance(one, os.PathLike) for one in data):
        yield [os.fspath(one) for one in data]
    else:
        with scratch() as folder:
            path = os.path.join(folder, f"data{ending}")
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text(data))
            yield [path]
