"""Buttons whose clicks are not lost while a session starts.

After a server restart or a lost connection a browser still shows the old buttons. A click then reaches a session that
has not drawn them yet: Streamlit (1.67) does not call its ``on_click``, and forgets the click at the end of that run.
This module stores the click until the button is drawn, which may take a run or two, since a page's views wait for the
engine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, TypedDict, Unpack

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id
from streamlit.runtime.state.session_state import Serialized

from ui.state.session_value import SessionValue

LONGEST = 60.0  # seconds for which a click is stored
_EARLY = SessionValue("clicks_early", dict[str, float])  # button key → time of the click
_LOST = SessionValue[Callable[[], None] | None]("click_lost", lambda: None)  # callback of a stored click


class ButtonLook(TypedDict, total=False):
    """Further arguments of ``st.button``."""

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
    """``st.button`` whose ``on_click`` is called at the start of a later run if Streamlit did not call it."""
    act = partial(on_click, *args, **(kwargs or {}))
    st.button(label, key=key, on_click=act, **look)
    if time.monotonic() - _EARLY.get().pop(key, -LONGEST) < LONGEST:
        _LOST.set(act)
        st.rerun()


def call_lost() -> None:
    """Call the stored callback. Must run at the beginning of a run, before any widget."""
    _EARLY.get().update(dict.fromkeys(_clicked_unseen(), time.monotonic()))
    act = _LOST.take()
    if act is not None:
        act()


def _clicked_unseen() -> Iterator[str]:
    """Yield the keys of clicked buttons that this session has not drawn."""
    context = get_script_run_ctx()
    if context is None:
        return
    state: Any = context.session_state
    told: Any = state._state._new_widget_state  # Streamlit (1.67) has no public access to it
    for name, one in told.states.items():
        clicked = isinstance(one, Serialized) and one.value.WhichOneof("value") == "trigger_value"
        key = user_key_from_element_id(name)
        if key is not None and clicked and one.value.trigger_value and name not in told.widget_metadata:
            yield key
