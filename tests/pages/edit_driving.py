"""Drive the view "edit" of Edit heads without a browser: its drawings, and the model's results for it."""

from __future__ import annotations

import functools

import numpy as np

from model_runner import CaptureRequest
from tests.pages.expected import runner
from tests.ui.driving import payloads
from ui.state.url_state import DEFAULT_TEXT

PAGE = "pages/edit_heads/page.py"
HERE = {"layer": "3", "head": "1"}
N = 8  # tokens of the default text


@functools.cache
def capture(*edits, continuation=()):
    return runner().capture(CaptureRequest(text=DEFAULT_TEXT, edits=edits, continuation=continuation))


def maps(app):
    return [arrays["values"] for _meta, arrays in payloads(app, "head_map")]


def expected_map(*edits):
    """The head's weights after the edits, NaN where the model or an edit hides the cell."""
    after = capture(*edits)
    keep = after.record(3).mask.tile(slice(0, N), slice(0, N), after.q(3).device, head=1).numpy()
    return np.where(keep, after.weights(3, 1).numpy(), np.nan)


def add(app):
    app.button(key="edit_add").click().run()
    return app


def chips(app):
    return [button.label.replace("\\", "") for button in drops(app)]


def drop(app, place):
    """Take back the edit at this place of the list."""
    drops(app)[place].click().run()


def drops(app):
    """The buttons that take an edit back, one for each of the list."""
    return [button for button in app.button if (button.key or "").startswith("edit_drop ")]
