"""Widgets that give typed values; what they hold is the session's, so it outlives the page and is in the address."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

from ui import session

T = TypeVar("T", bound=str)  # the values of a choice, as their Literal


def choose(label: str, name: str, options: Mapping[T, str], *, disabled: bool = False) -> T:
    """One of the options (value → words) as a row of segments; the first is the default."""
    chosen = session.choice(name, options)
    st.segmented_control(
        label,
        list(options),
        required=True,
        format_func=lambda value: options[value],
        key=_holding(name, chosen),
        on_change=_remember(name, options),
        label_visibility="collapsed",
        disabled=disabled,
    )
    return chosen


def pick(label: str, name: str, options: Mapping[T, str], *, width: int | None = None) -> T:
    """One of many options (value → words), as a list that opens; the first is the default."""
    chosen = session.choice(name, options)
    st.selectbox(
        label,
        list(options),
        format_func=lambda value: options[value],
        key=_holding(name, chosen),
        on_change=_remember(name, options),
        label_visibility="collapsed",
        width=width or "stretch",
    )
    return chosen


def switch(label: str, name: str, *, disabled: bool = False) -> bool:
    """On or off; off by default."""
    on = session.choice(name, ("0", "1")) == "1"
    key = _holding(name, on)

    def remember() -> None:
        session.choose(name, "1" if st.session_state[key] else "0", "0")

    st.toggle(label, key=key, on_change=remember, disabled=disabled)
    return on


def _key(name: str) -> str:
    return f"choice_{name}"


def _holding(name: str, value: object) -> str:
    """The key of a widget that shows this value, also where its own is another: the reader went back, say."""
    key = _key(name)
    if st.session_state.get(key) != value:
        st.session_state[key] = value
    return key


def _remember(name: str, options: Mapping[T, str]) -> Callable[[], None]:
    default = next(iter(options))
    return lambda: session.choose(name, st.session_state[_key(name)] or default, default)
