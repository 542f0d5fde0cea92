"""URLs of a room, as the teacher's browser sees this server."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import streamlit as st

from classroom.codes import normalized
from ui.state import url_state

ROOM = "room"  # query parameter of a link that leads back to the class
HERE = ("127.0.0.1", "localhost", "::1")


def join_link(code: str) -> str:
    """The link that students open."""
    here = urlsplit(st.context.url or "")
    return f"{here.scheme}://{here.netloc}{url_state.base()}/join/{code}"


def only_here() -> bool:
    """Return True if the teacher opened the app under a name that only this machine can reach, such as localhost."""
    return urlsplit(st.context.url or "").hostname in HERE


def address_of_page(page: str, code: str) -> str:
    """The page's URL with the session's selection, for a student who may then return to the room."""
    return f"/{page}?{urlencode(url_state.parts() | {ROOM: code})}"


def way_back() -> str | None:
    """The path back to the room that this reader came from, or None if the URL names no room."""
    code = normalized(url_state.written(ROOM) or "")
    return None if code is None else f"{url_state.base()}/join/{code}"
