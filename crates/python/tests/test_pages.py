"""What pages and notebooks show, runs."""

import pathlib
import re
import runpy

import pytest

from conftest import tree_bank

ROOT = pathlib.Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "crates" / "python" / "examples").glob("*.py"))


@pytest.mark.parametrize(("page", "least"), [("python.md", 8), ("constraints.md", 4)])
def test_pages(page, least, tmp_path, monkeypatch):
    path = ROOT / "docs" / page
    if not path.exists():
        pytest.skip("the page is in the repository only")
    monkeypatch.chdir(tmp_path)
    for name in ("train.conllu", "dev.conllu"):
        (tmp_path / name).write_text(tree_bank(12))
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.S)
    assert len(blocks) >= least
    for block in blocks:
        exec(compile(block, str(path), "exec"), names)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_notebooks(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example))


def test_there_are_notebooks():
    assert len(EXAMPLES) >= 3 or not (ROOT / "docs").exists()
