"""The reported size of a server's cached texts equals the memory that they use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pages.entries import ENTRIES
from tests.browser import ROOT
from tests.model_runner.stored import stored_bytes
from tests.ui.driving import open_app
from ui.state import session

PAGES = ("", "film", "families", "long_texts", "next_token")  # of which several keep the same captures
COMPARE = "from tests.ui.test_kept_bytes import counted_and_stored; print(*counted_and_stored())"


def counted_and_stored() -> tuple[int, int]:
    """Of a server that opened these pages: the bytes it says it keeps, and those behind the tensors that it keeps."""
    file_of = {entry.address: entry.file for entry in ENTRIES}
    kept, text = session.kept(), "The dog chased the squirrel because it was hungry. " * 20
    for page in PAGES:
        open_app(page=file_of[page], checked=False, text=text)
    held = [(entry.value, list(entry.shared.values())) for entry in kept._held.values()]
    return kept.nbytes, stored_bytes(held)


@pytest.mark.long
def test_what_is_kept_is_as_much_as_the_tensors_behind_it_take():
    """In a process of its own: from a capture the walk reaches its runner, and what other tests left growing there."""
    done = subprocess.run(
        [sys.executable, "-c", COMPARE], cwd=ROOT, capture_output=True, text=True, timeout=280, check=True
    )
    counted, stored = map(int, done.stdout.split()[-2:])
    assert counted > 10_000_000
    assert counted == pytest.approx(stored, rel=0.05)
