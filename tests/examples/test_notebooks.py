"""The notebooks of examples/ run from the first cell to the last, and are short."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
LONGEST = 60  # lines of code


def test_there_are_eight_short_ones_without_outputs():
    assert len(NOTEBOOKS) == 8
    for path in NOTEBOOKS:
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert sum(len(cell.source.splitlines()) for cell in cells) <= LONGEST, path.name
        assert all(not cell.outputs and cell.execution_count is None for cell in cells), path.name


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [one for cell in notebook.cells for one in cell.get("outputs", ())]
    assert [one for one in outputs if one.output_type == "error"] == []
    assert any("text/html" in one.get("data", {}) or one.get("name") == "stdout" for one in outputs)
