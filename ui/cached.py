"""What is computed once of a capture, for every session that looks at it.

Keys are written out: Streamlit hashes a request by the values of its fields, whatever kind of edit they belong to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from analysis.head_grid import HeadGrid, head_grid
from analysis.units import Unit, character_units
from model_runner import Capture, Check


@st.cache_resource(max_entries=32, show_spinner=False)
def _grid(request: str, _capture: Capture) -> HeadGrid:
    return head_grid(_capture)


def grid(capture: Capture) -> HeadGrid:
    """Thumbnails and metrics of every head, computed once per request."""
    return _grid(repr(capture.request), capture)


@st.cache_resource(max_entries=32, show_spinner=False)
def _chips(request: str, _capture: Capture) -> tuple[Unit, ...]:
    return character_units(_capture)


def chips(capture: Capture) -> tuple[Unit, ...]:
    """The units of the token strip, computed once per request."""
    return _chips(repr(capture.request), capture)


@st.cache_resource(max_entries=16, show_spinner=False)
def made(key: object, _make: Callable[[], Any]) -> Any:
    """What ``_make`` gives for this key, made once."""
    return _make()


@st.cache_resource(max_entries=512, show_spinner=False)
def _check(request: str, layer: int, _capture: Capture) -> Check:
    return _capture.verify(layer)


def check(capture: Capture, layer: int) -> Check:
    """The layer's verification, computed once per request."""
    return _check(repr(capture.request), layer, capture)
