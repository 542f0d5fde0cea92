"""The API reference is built offline, and opens without a network."""

from __future__ import annotations

import re

import pytest

from scripts.api_reference.__main__ import ENGINE, PACKAGES, write

LOADED = re.compile(r"""(?:src|href)=["']?(?:https?:)?//[^\s"'>]+|@import url|url\(["']?https?:|fetch\(["'`]https?:""")


def pages(folder):
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}


@pytest.mark.table
def test_a_part_of_the_reference_has_its_names_and_docstrings_and_loads_nothing(tmp_path):
    write(tmp_path, "attention.metrics", "attention.softmax")
    found = pages(tmp_path)
    assert set(found) == {"index.html", "attention/metrics.html", "attention/softmax.html"}
    assert "API reference" in found["index.html"]
    assert 'id="entropy"' in found["attention/metrics.html"]
    assert 'id="N_"' not in found["attention/metrics.html"]
    assert "Shannon entropy of the row in bits" in found["attention/metrics.html"]
    texts = [*found.values(), (tmp_path / "search.js").read_text(encoding="utf-8")]
    assert [link for text in texts for link in LOADED.findall(text)] == []


@pytest.mark.long
@pytest.mark.timeout(1200)  # 80 s where nothing else runs
def test_the_whole_reference_has_every_public_package_and_not_the_engine(tmp_path):
    write(tmp_path, *PACKAGES, ENGINE)
    found = pages(tmp_path)
    assert {f"{name}.html" for name in PACKAGES} <= set(found)
    assert not any("model_runner/local" in name for name in found)
    assert 'id="CaptureRequest"' in found["model_runner.html"]
    assert [link for text in found.values() for link in LOADED.findall(text)] == []
