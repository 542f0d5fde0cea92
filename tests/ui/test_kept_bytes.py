"""What a server says that it keeps of texts is what its memory holds of them."""

from __future__ import annotations

import pytest

from pages.entries import ENTRIES
from tests.model_runner.stored import stored_bytes
from tests.ui.driving import open_app
from ui.state import session

PAGES = ("", "film", "families", "long_texts", "next_token")  # of which several keep the same captures


def test_what_is_kept_is_as_much_as_the_tensors_behind_it_take():
    file_of = {entry.address: entry.file for entry in ENTRIES}
    kept, text = session.kept(), "The dog chased the squirrel because it was hungry. " * 20
    for group, _ in list(kept._held):  # of other tests
        kept.forget(group)
    for page in PAGES:
        open_app(page=file_of[page], checked=False, text=text)
    held = [(entry.value, list(entry.shared.values())) for entry in kept._held.values()]
    assert kept.nbytes > 10_000_000
    assert kept.nbytes == pytest.approx(stored_bytes(held), rel=0.05)
