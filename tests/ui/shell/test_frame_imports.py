"""The first paint of a page needs only its frame and the stored picture of Heads, without heavy libraries."""

from __future__ import annotations

import json
import subprocess
import sys

from pages.entries import ENTRIES
from tests.browser import ROOT

# A new process, for this one has long imported all of them. Each run ends where the engine would be waited for, and a
# library that one page's frame imported is seen at it and at those after it.
CODE = """
import json, sys
import streamlit  # which imports a part of Plotly by itself (1.67)
by_itself = set(sys.modules)
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
import app
from pages.entries import ENTRIES
from ui.shell import frame

HEAVY = {"torch", "transformers", "pandas", "pyarrow", "plotly", "safetensors", "tokenizers"}

def end(*_):
    raise StopException

frame.import_engine = end
found = {}
for entry in ENTRIES:
    page = AppTest.from_file("ui/shell/entry/atlas.py", default_timeout=60)
    page._page_hash = calc_hash(entry.address) if entry.address else ""
    page.run()
    assert not page.exception, page.exception
    found[entry.address] = {
        "heavy": sorted({name.split(".")[0] for name in set(sys.modules) - by_itself} & HEAVY),
        "title": any(entry.title in one.proto.body for one in page.get("html")),
        "components": [one.proto.component_name for one in page.get("bidi_component")],
    }
print(json.dumps(found))
"""


def test_the_frame_of_every_page_is_drawn_without_heavy_libraries():
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert list(found) == [entry.address for entry in ENTRIES]
    assert {address: one["heavy"] for address, one in found.items() if one["heavy"]} == {}
    assert all(one["title"] and "theme_switch" in one["components"] for one in found.values())
    assert {"head_map", "head_grid", "token_strip", "token_lines"} <= set(found[""]["components"])
