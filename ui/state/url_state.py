"""What a session holds of the address: model, text, and other parts by name, as written; defaults are left out."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from analysis.examples import OF_MODEL
from ui.state import text_in_url

DEFAULT_TEXT = "The dog chased the squirrel because it"
DEFAULT_MODEL = "default"
MODEL, TEXT = "model", "text"  # of the session state, and of the address
LESSON = ("lesson", "step")  # parts that a link to another page may change

_PARTS, _STEP, _TOLD = "parts", "lesson_step", "address_told"


def hold(parts: Mapping[str, str]) -> None:
    """Hold these parts and no others."""
    st.session_state[_PARTS] = dict(parts)


def held() -> dict[str, str]:
    """Every part, by name."""
    return dict(st.session_state[_PARTS])


def written(name: str) -> str | None:
    """A part as it is written; None at its default."""
    return st.session_state[_PARTS].get(name)


def choose(name: str, value: str, default: str) -> None:
    """Remember what was chosen for a control; the default is not worth a place in the address."""
    if value == default:
        st.session_state[_PARTS].pop(name, None)
    else:
        st.session_state[_PARTS][name] = value


def base() -> str:
    """What the server's own addresses begin with: "/atlas", or "" where it has a host of its own."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def text() -> str:
    return st.session_state[TEXT]


def model() -> str:
    return st.session_state[MODEL]


def parts() -> dict[str, str]:
    """What the address holds, of any page."""
    wanted = held()
    if model() != DEFAULT_MODEL:
        wanted[MODEL] = model()
    return wanted if text() == DEFAULT_TEXT and model() not in OF_MODEL else wanted | text_in_url.parts_of(text())


def write() -> None:
    """Mirror in the address where the session looks.

    A run has the one the browser sent with what it asked for: an older one where a part drawn alone asks for the whole
    page, in one run with a click that came meanwhile (Streamlit 1.67). Another order were another step of Back.
    """
    wanted, sent = parts(), st.query_params.to_dict()
    if wanted != sent or wanted != st.session_state.get(_TOLD):
        st.query_params.from_dict({name: wanted[name] for name in {**sent, **wanted} if name in wanted})
    st.session_state[_TOLD] = wanted
    st.session_state[_STEP] = [wanted.get(name) for name in LESSON]


def led() -> bool:
    """Whether a link, and nothing of ours, led to another step of a lesson since the address was looked at."""
    step = [st.query_params.get(name) for name in LESSON]
    before, st.session_state[_STEP] = st.session_state.get(_STEP), step
    return before != step
