"""The URL's content in the session: model, text, and other parameters by name, as written; defaults are left out."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from analysis.examples import OF_MODEL
from ui.state import text_in_url

DEFAULT_TEXT = "The dog chased the squirrel because it"
DEFAULT_MODEL = "default"
MODEL, TEXT = "model", "text"  # keys of the session state, and URL parameters
LESSON = ("lesson", "step")  # parameters that a link to another page may change

_PARTS, _STEP, _TOLD = "parts", "lesson_step", "address_told"


def hold(parts: Mapping[str, str]) -> None:
    """Replace all parameters."""
    st.session_state[_PARTS] = dict(parts)


def held() -> dict[str, str]:
    """All parameters by name."""
    return dict(st.session_state[_PARTS])


def written(name: str) -> str | None:
    """A parameter as written; None at its default."""
    return st.session_state[_PARTS].get(name)


def choose(name: str, value: str, default: str) -> None:
    """Set a parameter; a default is removed from the URL."""
    if value == default:
        st.session_state[_PARTS].pop(name, None)
    else:
        st.session_state[_PARTS][name] = value


def base() -> str:
    """The server's base path: "/atlas", or empty if it is at the root."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def text() -> str:
    return st.session_state[TEXT]


def model() -> str:
    return st.session_state[MODEL]


def parts() -> dict[str, str]:
    """All URL parameters, of every page."""
    wanted = held()
    if model() != DEFAULT_MODEL:
        wanted[MODEL] = model()
    return wanted if text() == DEFAULT_TEXT and model() not in OF_MODEL else wanted | text_in_url.parts_of(text())


def write() -> None:
    """Write the session's state to the URL.

    A run starts with the URL that the browser sent, which may be outdated if a fragment reruns the page in one run with
    another click (Streamlit 1.67). The order of the parameters is kept: a different order would create a history entry.
    """
    wanted, sent = parts(), st.query_params.to_dict()
    if wanted != sent or wanted != st.session_state.get(_TOLD):
        st.query_params.from_dict({name: wanted[name] for name in {**sent, **wanted} if name in wanted})
    st.session_state[_TOLD] = wanted
    st.session_state[_STEP] = [wanted.get(name) for name in LESSON]


def led() -> bool:
    """Return True if a link changed the lesson step since the last call."""
    step = [st.query_params.get(name) for name in LESSON]
    before, st.session_state[_STEP] = st.session_state.get(_STEP), step
    return before != step
