"""Values computed once per capture and shared by all sessions.

Cache keys are spelled out, because Streamlit hashes a request by its fields' values and ignores the types of edits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

import streamlit as st

from analysis.head_grid import HeadGrid, head_grid
from analysis.units import Unit, character_units
from model_runner import Capture, Check
from ui.state import session

T = TypeVar("T")


def grid(capture: Capture) -> HeadGrid:
    """Thumbnails and metrics of every head, computed once per request."""
    return made(("grid", repr(capture.request)), lambda: head_grid(capture))


def chips(capture: Capture) -> tuple[Unit, ...]:
    """The units of the token strip, computed once per request."""
    return made(("chips", repr(capture.request)), lambda: character_units(capture))


def made(key: Hashable, make: Callable[[], T]) -> T:
    """Return ``make()``, cached under ``key`` within the server's cache budget.

    Functions with equal keys have separate entries.
    """
    return session.kept().made("drawn", (make.__module__, make.__qualname__, key), make)


@st.cache_resource(max_entries=512, show_spinner=False)
def _check(request: str, layer: int, _capture: Capture) -> Check:
    return _capture.verify(layer)


def check(capture: Capture, layer: int) -> Check:
    """The layer's verification, computed once per request."""
    return _check(repr(capture.request), layer, capture)
