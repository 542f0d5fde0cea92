"""Warnings about invalid URL parameters, repeated in every run until the reader changes something."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.sentences import joined
from ui.state import url_state
from viz.markdown import plain

_TOLD, _SAID, _PLACE = "told", "said", "place_to_tell"


def tell_at(place: DeltaGenerator) -> None:
    """Show warnings in this container from now on; a fragment has a container of its own."""
    st.session_state[_PLACE] = place


def begin(place: DeltaGenerator) -> None:
    """Start a run of a page without warnings."""
    st.session_state[_SAID] = {}
    tell_at(place)


def forget(scope: str) -> None:
    """Drop the warnings of this scope, because the reader changed something in it."""
    _told().pop(scope, None)


def forget_all() -> None:
    """Drop all warnings, after navigation to another URL."""
    _told().clear()


def tell(scope: str, *problems: str) -> None:
    """Show problems below the page's head in this run and later ones, and write the URL without the invalid parts."""
    held = _told().setdefault(scope, [])
    held += [problem for problem in problems if problem not in held]
    if held:
        said = st.session_state[_SAID]
        said[scope] = held
        st.session_state[_PLACE].info(plain(joined(*(problem for of_one in said.values() for problem in of_one))))
        url_state.write()


def _told() -> dict[str, list[str]]:
    return st.session_state.setdefault(_TOLD, {})
