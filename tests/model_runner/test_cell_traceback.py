"""In a notebook, an error that the user can fix shows the user's own lines and one sentence."""

from __future__ import annotations

import re

from nbclient import NotebookClient
from nbformat import v4

from tests.test_repository import ROOT

CELLS = (
    "import os; os.environ['HF_HUB_OFFLINE'] = '1'\nimport attention_atlas as aa\nrunner = aa.load_runner('default')",
    "aa.load_runner('nobody/nothing')",
    "def look(layer):\n    return runner.capture('The dog').weights(layer)\nlook(90)",
    "open('bad.safetensors', 'w').write('hello')\naa.load_capture('bad.safetensors')",
    "try:\n    aa.load_runner('nobody/nothing')\nexcept aa.RunnerError as error:\n    print(type(error.__cause__))",
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def test_a_cell_prints_its_own_lines_and_the_sentence(tmp_path):
    notebook = v4.new_notebook(cells=[v4.new_code_cell(f"import sys; sys.path.insert(0, {str(ROOT)!r})")])
    notebook.cells += [v4.new_code_cell(source) for source in CELLS]
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=240, allow_errors=True, resources=where).execute()
    loaded, hub, place, file, caught = (cell.outputs for cell in notebook.cells[1:])
    assert not [one.text for one in loaded if "Loading weights" in one.get("text", "")]
    told = {}
    for name, outputs in {"hub": hub, "place": place, "file": file}.items():
        (error,) = (one for one in outputs if one.output_type == "error")
        told[name] = error.ename, COLOUR.sub("", "\n".join(error.traceback))
        assert error.evalue in told[name][1]
    names = {name: ename for name, (ename, _) in told.items()}
    assert names == {"hub": "HubUnreachable", "place": "NoSuchPlace", "file": "Unreadable"}
    for _, printed in told.values():
        assert "model_runner" not in printed
        assert "huggingface_hub" not in printed
        assert "exception" not in printed  # no "was the direct cause of the following"
        assert len(printed) < 1500
    assert "look(90)" in told["place"][1]
    assert "return runner.capture('The dog').weights(layer)" in told["place"][1]
    assert [one.text for one in caught if one.output_type == "stream"] != [
        "<class 'NoneType'>\n"
    ]  # what caused it is kept
