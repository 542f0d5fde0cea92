"""Drive the patching view of Edit heads without a browser, with its expected results."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from analysis.patching import contrasting
from jobs.patching import PatchSetting
from jobs.second_text import PAIRS
from tests.pages.expected import capture, runner
from tests.ui.driving import button, open_app, payload, until
from ui.state.url_state import DEFAULT_TEXT

PAGE = "pages/edit_heads/page.py"
N = 8  # tokens of the default text
OTHER = PAIRS[DEFAULT_TEXT]
DIFFERENT = 5  # where its token is another
CLOSE = 1e-4  # logits: rounding of sums of size 20 in float32


@functools.cache
def tokens():
    return contrasting(capture(), capture(OTHER))


def opened(**address: str):
    """The view with its map complete."""
    return finished(open_app(page=PAGE, heads="patching", **address))


def finished(app):
    """The same page once nothing of its map is to come."""
    return until(app, lambda app: not button(app, "patch_stop"))


def box(app) -> Any:
    """The box of the second text."""
    return next(one for one in app.text_input if one.label == "Second text")


def chosen(app, label: str) -> Any:
    """One of the lists of tokens."""
    return next(one for one in app.selectbox if one.label == label)


def changes(app) -> np.ndarray:
    return payload(app, "layer_head_map")[1]["values"]


def setting(kind="residual", *, layer=3, reversed=False) -> PatchSetting:
    runs = (capture(OTHER), capture()) if reversed else (capture(), capture(OTHER))
    return PatchSetting(*runs, tokens(), kind, layer, reversed)


def computed(one: PatchSetting) -> np.ndarray:
    return np.stack([runner().submit(one.question(row)).result().numpy() for row in one.rows])
