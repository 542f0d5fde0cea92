"""Several visitors of a fresh server open different pages at once: nobody gets a partially imported module."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from tests.ui.driving import ROOT
from ui.shell import engine

CODE = """
import sys, threading
from ui.shell.engine import import_engine

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


class Failing(engine._Engine):
    """Its import fails as often as ``failures`` says, and waits until ``go`` is set."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures, self.tries, self.go = failures, 0, threading.Event()

    def _import(self) -> None:
        self.tries += 1
        assert self.go.wait(20)
        if self.tries <= self.failures:
            self._error = ImportError(f"no torch, try {self.tries}")
        else:
            self.is_up = True


def test_an_import_that_failed_is_told_and_tried_again_by_the_next_run(monkeypatch: pytest.MonkeyPatch):
    own = Failing(failures=1)
    own.go.set()
    monkeypatch.setattr(engine, "_ENGINE", own)
    with pytest.raises(ImportError, match="try 1"):
        engine.import_engine()
    assert not engine.engine_is_up()
    engine.import_engine()
    assert engine.engine_is_up()
    engine.import_engine()  # and no more
    assert own.tries == 2


def test_a_run_that_waits_can_be_left_and_the_import_goes_on(monkeypatch: pytest.MonkeyPatch):
    class Left(Exception):
        pass

    def leave() -> Any:
        raise Left

    own = Failing(failures=0)
    monkeypatch.setattr(engine, "_ENGINE", own)
    for _ in range(2):
        with pytest.raises(Left):
            engine.import_engine(leave)
    own.go.set()
    engine.import_engine()
    assert own.tries == 1


def test_the_import_leaves_the_processor_to_a_browser_that_paints_for_a_moment(monkeypatch: pytest.MonkeyPatch):
    own = Failing(failures=0)
    own.go.set()
    monkeypatch.setattr(engine, "_ENGINE", own)
    tries = list[int]()
    engine.import_engine(painted=lambda: tries.append(own.tries) or len(tries) > 2)
    assert tries == [0, 0, 0]
    own = Failing(failures=0)
    own.go.set()
    monkeypatch.setattr(engine, "_ENGINE", own)
    monkeypatch.setattr(engine, "TO_PAINT", 0.1)
    engine.import_engine(painted=lambda: False)  # no browser, or one whose page never says so
    assert own.tries == 1
