"""A part of a page that is redrawn first: a change in it reruns the part alone, then the whole page.

A browser paints a page that arrives at once in one go, some seventy elements.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from analysis.stories import told_query
from model_runner import RunnerError
from model_runner.capture import index
from ui.shell.page import PageContext
from ui.state import session
from ui.state.frame_slots import frame_slots
from ui.state.inputs import in_fragment
from ui.wording import url_warnings

T = TypeVar("T")

# Seconds for the browser to paint the part; the page's messages would delay that if they followed at once.
TO_PAINT = 0.15


def draw_fragment_first(name: str, draw: Callable[[bool], T]) -> T:
    """Draw a part with its page, or alone after an event in it; ``draw`` is called with True when alone."""

    @st.fragment(key=name)
    def part() -> T:
        alone, status, place = in_fragment(), st.empty(), st.empty()
        if alone:  # a fragment may write only to containers that it wrote to in the whole page's run
            frame_slots().status, frame_slots().stoppable = status, False
            url_warnings.tell_at(place)
        try:
            drawn = draw(alone)
        except RunnerError:  # a model server failed; the whole page shows the error
            if alone:
                st.rerun()
            raise
        if alone:
            until = time.monotonic() + TO_PAINT
            while time.monotonic() < until:
                time.sleep(0.01)
                session.text()  # reading the session lets a click's run take over
            st.rerun()
        return drawn

    return part()


def rerun_fragment(name: str) -> None:
    """At the end of a callback: rerun this part first."""
    with suppress(StreamlitAPIException):  # the page was never drawn: run it whole
        st.rerun(name)


def moved(opened: PageContext) -> PageContext:
    """Return the context at the session's selection, or unchanged if that is invalid; the page then reports it."""
    place, count = session.selection(), len(opened.capture.tokens)
    try:
        query, key = (None if at is None else index("position", at, count) for at in (place.query, place.key))
        query = told_query(opened.capture) if place.query == -1 else query
        layer = opened.layer if place.layer is None else place.layer
        head = index("head", place.head or 0, opened.capture.record(layer).q.shape[0])
    except RunnerError:
        return opened
    return replace(opened, layer=layer % opened.capture.n_layers, head=head, query=query, key=key)
