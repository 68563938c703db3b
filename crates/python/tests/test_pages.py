"""What the page shows, runs."""

import pathlib
import re

import pytest

from conftest import tree_bank

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "python.md"


def test_the_page(tmp_path, monkeypatch):
    if not PAGE.exists():
        pytest.skip("the page is in the repository only")
    monkeypatch.chdir(tmp_path)
    for name in ("train.conllu", "dev.conllu"):
        (tmp_path / name).write_text(tree_bank(12))
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)
    assert len(blocks) >= 8
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
