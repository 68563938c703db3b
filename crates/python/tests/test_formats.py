import time

import pyarrow
import pytest

import consonant
from conftest import tree_bank

TWO = (
    "# newdoc id = d\n# sent_id = s1\n1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tca\tcan\tAUX\tMD\t_\t0\troot\t_\tNER=B-X\n2\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_\n\n"
    "1\tGo\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)


def test_conllu_is_a_stream(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(TWO)
    stream = consonant.conllu([path, path], batch_size=3)
    rows = pyarrow.table(stream).to_pylist()
    assert [row["id"] for row in rows] == ["s1", None, "s1", None] and {row["doc"] for row in rows} == {"d"}
    assert rows[0]["text"] == "can't" and rows[0]["multiword"] == [{"start": 0, "end": 2, "text": "can't"}]
    assert rows[0]["tokens"][0]["entity"] == "B-X" and rows[0]["tokens"][1]["head"] == 1 and rows[1]["tokens"][0]["upos"] is None
    assert [len(batch) for batch in stream] == [3, 1]  # again, and batch by batch
    assert pyarrow.RecordBatchReader.from_stream(stream).schema.names == ["doc", "id", "text", "tokens", "multiword"]
    assert "a.conllu" in repr(stream)


def test_conllu_is_lazy(tmp_path):
    path = tmp_path / "many.conllu"
    path.write_text(tree_bank(20_000) + "1\tbroken\n\n")
    start = time.perf_counter()
    batches = iter(consonant.conllu(path, batch_size=10))
    assert len(next(batches)) == 10 and time.perf_counter() - start < 1.0
    with pytest.raises(consonant.DataError, match="many.conllu:120001"):
        list(batches)
    with pytest.raises(consonant.DataError, match="nothing.conllu"):
        consonant.conllu(tmp_path / "nothing.conllu")


def test_convert_and_check(tmp_path):
    names = tmp_path / "names.tsv"
    names.write_text("New\tB-LOC\nYork\tI-LOC\n\n")
    assert "NER=E-LOC" in consonant.convert(names, "conllu", scheme="bioes")
    assert consonant.convert(names, "columns", output=tmp_path / "out.tsv") is None
    assert (tmp_path / "out.tsv").read_text() == names.read_text()
    assert consonant.check(names)["ok"]
    broken = tmp_path / "broken.conllu"
    broken.write_text("1\tGo\t_\n\n")
    report = consonant.check(broken)
    assert not report["ok"] and "broken.conllu:1" in report["text"]
    with pytest.raises(consonant.UsageError, match="nonsense"):
        consonant.convert(names, "nonsense")
