"""Buttons whose clicks are not lost while a session begins.

After a restart of the server, or of a connection that was lost for too long, a browser still shows the buttons of
before, and a click comes to a session that has not drawn them yet. Streamlit (1.67) then calls no ``on_click``, but the
button returns True once it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, TypedDict, Unpack

import streamlit as st

from ui.state.session_value import SessionValue

_CALLED = SessionValue("click_called", set[str])  # keys of buttons whose callbacks were called before this run
_LOST = SessionValue[Callable[[], None] | None]("click_lost", lambda: None)  # what a click was to do


class ButtonLook(TypedDict, total=False):
    """What else ``st.button`` takes."""

    type: Literal["primary", "secondary", "tertiary"]
    help: str | None
    icon: str
    icon_position: Literal["left", "right"]
    disabled: bool
    width: Literal["content", "stretch"] | int


def button(
    label: str,
    *,
    key: str,
    on_click: Callable[..., None],
    args: tuple[object, ...] = (),
    kwargs: Mapping[str, object] | None = None,
    **look: Unpack[ButtonLook],
) -> None:
    """``st.button``, whose ``on_click`` is called at the beginning of another run where Streamlit did not call it."""
    act = partial(on_click, *args, **(kwargs or {}))
    if not st.button(label, key=key, on_click=_call, args=(key, act), **look):
        return
    if key in _CALLED.get():
        _CALLED.get().remove(key)
    else:
        _LOST.set(act)
        st.rerun()


def call_lost() -> None:
    """At the beginning of a run, before any widget: as a callback would."""
    act = _LOST.take()
    if act is not None:
        act()


def _call(key: str, act: Callable[[], None]) -> None:
    _CALLED.get().add(key)
    act()
