"""Addresses of a room, from this server as its teacher's browser sees it."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import streamlit as st

from classroom.codes import normalized
from ui.state import url_state

ROOM = "room"  # the part of an address that leads back to the class
HERE = ("127.0.0.1", "localhost", "::1")


def join_link(code: str) -> str:
    """What students open."""
    here = urlsplit(st.context.url or "")
    return f"{here.scheme}://{here.netloc}{url_state.base()}/join/{code}"


def only_here() -> bool:
    """Whether the teacher opened the app at a name that means this machine alone."""
    return urlsplit(st.context.url or "").hostname in HERE


def address_of_page(page: str, code: str) -> str:
    """The page with all that the session looks at, for somebody who comes from a room and may go back there."""
    return f"/{page}?{urlencode(url_state.parts() | {ROOM: code})}"


def way_back() -> str | None:
    """The class that this reader came from, if the address says so."""
    code = normalized(url_state.written(ROOM) or "")
    return None if code is None else f"{url_state.base()}/join/{code}"
