"""Visitors of a fresh server who open different pages at once: nobody meets a half-made module."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.ui.driving import ROOT

CODE = """
import sys, threading
from ui.engine import import_engine

def visit(name):
    try:
        start.wait()
        import_engine()
        __import__(name)
    except BaseException as error:
        wrong.append(f"{name}: {error!r}")

pages = ["masks.gallery", "kv_cache.race", "film.views", "positions.rotation", "cell.steps", "edit_heads.effects"]
start, wrong = threading.Barrier(len(pages)), []
visits = [threading.Thread(target=visit, args=(f"pages.{page}",)) for page in pages]
for one in visits: one.start()
for one in visits: one.join()
sys.exit("; ".join(wrong) or None)
"""


@pytest.mark.long
@pytest.mark.table
def test_the_engine_is_imported_once_whoever_comes_at_the_same_time():
    ended = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr[-2000:]
