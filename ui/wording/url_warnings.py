"""What is said of parts of an address that are not possible: in every run, until the reader changes something."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.sentences import joined
from ui.state import url_state
from viz.markdown import plain

_TOLD, _SAID, _PLACE = "told", "said", "place_to_tell"


def tell_at(place: DeltaGenerator) -> None:
    """Here from now on: a part of the page that is drawn alone has a place of its own."""
    st.session_state[_PLACE] = place


def begin(place: DeltaGenerator) -> None:
    """A run of a page, in which nothing is said so far."""
    st.session_state[_SAID] = {}
    tell_at(place)


def forget(scope: str) -> None:
    """The reader changed something of this scope."""
    _told().pop(scope, None)


def forget_all() -> None:
    """Another address was gone to, by Back or by a link."""
    _told().clear()


def tell(scope: str, *problems: str) -> None:
    """Below the head of the page, and in the runs to come, which may be the page's own; the address is without them."""
    held = _told().setdefault(scope, [])
    held += [problem for problem in problems if problem not in held]
    if held:
        said = st.session_state[_SAID]
        said[scope] = held
        st.session_state[_PLACE].info(plain(joined(*(problem for of_one in said.values() for problem in of_one))))
        url_state.write()


def _told() -> dict[str, list[str]]:
    return st.session_state.setdefault(_TOLD, {})
