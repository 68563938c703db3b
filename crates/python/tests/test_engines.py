"""Data frames and SQL beside Spark and Ray: the lines of docs/scale.md, with the rows of one process."""

import pathlib
import re

import pytest

pyarrow = pytest.importorskip("pyarrow")

TEXTS = ["Ann Smith lives in Kiel.", None, "Zoë 😀 ate. They can't row."]
PAGE = pathlib.Path(__file__).parents[3] / "docs" / "scale.md"


def lines(engine):
    """What the page says about an engine."""
    if not PAGE.exists():
        pytest.skip("the page is in the repository only")
    found = re.search(rf"### {engine}\n.*?```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)
    assert found, engine
    return found[1]


@pytest.fixture
def wanted(nlp):
    table = pyarrow.table({"id": [1, 2, 3], "text": TEXTS})
    return table, pyarrow.table(nlp.annotate_batch(table, text="text")).to_pylist()


@pytest.mark.parametrize(("engine", "module"), [("Polars", "polars"), ("DuckDB", "duckdb"), ("DataFusion", "datafusion")])
def test_lines_of_the_page(engine, module, wanted, tmp_path, monkeypatch):
    pytest.importorskip(module)
    import pyarrow.parquet

    monkeypatch.chdir(tmp_path)
    table, rows = wanted
    pyarrow.parquet.write_table(table, "news.parquet")
    names = {}
    exec(compile(lines(engine), str(PAGE), "exec"), names)
    found = sorted(pyarrow.table(names["annotated"]).to_pylist(), key=lambda row: row["id"])
    assert [{name: row[name] for name in rows[0]} for row in found] == rows
