import pytest

import consonant

pyarrow = pytest.importorskip("pyarrow")
TEXTS = ["Ann Smith lives in Kiel.", None, "Zoë 😀 ate. Bob left."]


def check(out):
    assert out.column_names == ["id", "text", "sentences", "entities"]
    rows = out.to_pylist()
    assert [row["id"] for row in rows] == [1, 2, 3] and rows[1]["sentences"] is None and rows[1]["entities"] is None
    for row in rows[::2]:
        for piece in [*row["sentences"], *(t for s in row["sentences"] for t in s["tokens"]), *row["entities"]]:
            assert row["text"][piece["start"] : piece["end"]] == piece["text"]
    assert [(name["text"], name["label"]) for name in rows[0]["entities"]] == [("Ann Smith", "PER"), ("Kiel", "LOC")]
    assert rows[0]["sentences"][0]["tokens"][0]["upos"] == "PROPN" and len(rows[2]["sentences"]) == 2


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()])
def test_record_batches(nlp, kind):
    batch = pyarrow.record_batch({"id": [1, 2, 3], "text": pyarrow.array(TEXTS, kind)})
    out = nlp.annotate_batch(batch, text="text")
    assert len(out) == 3 and "sentences" in repr(out)
    check(pyarrow.record_batch(out))
    check(pyarrow.table(out))


def test_tables_of_several_chunks(nlp):
    whole = pyarrow.table({"id": [1, 2, 3], "text": TEXTS})
    check(pyarrow.table(nlp.annotate_batch(pyarrow.concat_tables([whole.slice(0, 1), whole.slice(1)]))))
    assert pyarrow.table(nlp.annotate_batch(whole.slice(0, 0))).num_rows == 0


def test_other_frames(nlp):
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    data = {"id": [1, 2, 3], "text": TEXTS}
    check(pyarrow.table(nlp.annotate_batch(polars.DataFrame(data))))
    assert polars.DataFrame(nlp.annotate_batch(polars.DataFrame(data))).height == 3
    check(pyarrow.table(nlp.annotate_batch(pandas.DataFrame(data))).select(["id", "text", "sentences", "entities"]))


def test_what_is_no_column_of_text(nlp):
    with pytest.raises(consonant.UsageError, match="there is no column `body`; the columns are text"):
        nlp.annotate_batch(pyarrow.record_batch({"text": ["a"]}), text="body")
    with pytest.raises(consonant.UsageError, match="expected text"):
        nlp.annotate_batch(pyarrow.record_batch({"text": [1]}))
    with pytest.raises(consonant.UsageError, match="already"):
        nlp.annotate_batch(pyarrow.record_batch({"text": ["a"], "entities": [1]}))
    with pytest.raises(TypeError, match="Arrow"):
        nlp.annotate_batch([1, 2])
    with pytest.raises(consonant.UsageError, match="columns with names"):
        nlp.annotate_batch(pyarrow.array([1, 2]))
