"""A part of a page that answers first: what changes it has it drawn alone, and the whole page after it.

A browser that is sent the page in one piece paints it in one piece, some seventy elements of it.
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

# Seconds in which the browser paints what was drawn: all of a page's messages, at once behind it, keep it from that.
TO_PAINT = 0.15


def draw_fragment_first(name: str, draw: Callable[[bool], T]) -> T:
    """Draw a part, now with its page; ``draw`` is told when it is drawn alone. What happens in it is answered first."""

    @st.fragment(key=name)
    def part() -> T:
        alone, status, place = in_fragment(), st.empty(), st.empty()
        if alone:  # a fragment may write to no place of the page that it did not write to with the page
            frame_slots().status, frame_slots().stoppable = status, False
            url_warnings.tell_at(place)
        try:
            drawn = draw(alone)
        except RunnerError:  # what it needs could not be fetched from a server: the whole page says so
            if alone:
                st.rerun()
            raise
        if alone:
            until = time.monotonic() + TO_PAINT
            while time.monotonic() < until:
                time.sleep(0.01)
                session.text()  # a look at the session: here the run of a click that came meanwhile takes over
            st.rerun()
        return drawn

    return part()


def rerun_fragment(name: str) -> None:
    """At the end of a callback: this part of the page is what its reader waits for."""
    with suppress(StreamlitAPIException):  # the page was never drawn so far: then all of it at once
        st.rerun(name)


def moved(opened: PageContext) -> PageContext:
    """The same material where the session looks now; where it cannot look there, as it was: the page will say so."""
    place, count = session.selection(), len(opened.capture.tokens)
    try:
        query, key = (None if at is None else index("position", at, count) for at in (place.query, place.key))
        query = told_query(opened.capture) if place.query == -1 else query
        layer = opened.layer if place.layer is None else place.layer
        head = index("head", place.head or 0, opened.capture.record(layer).q.shape[0])
    except RunnerError:
        return opened
    return replace(opened, layer=layer % opened.capture.n_layers, head=head, query=query, key=key)
