"""Widgets that give typed values; what they hold is the session's, so it outlives the page and is in the address."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

from ui import session

A_MOMENT = 3.0  # seconds

T = TypeVar("T", bound=str)  # the values of a choice, as their Literal


def choose(label: str, name: str, options: Mapping[T, str], *, disabled: bool = False) -> T:
    """One of the options (value → words) as a row of segments; the first is the default."""
    chosen = session.choice(name, options)
    st.segmented_control(
        label,
        list(options),
        default=chosen,
        required=True,
        format_func=lambda value: options[value],
        key=holding(_key(name), chosen),
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
        list(options).index(chosen),
        format_func=lambda value: options[value],
        key=holding(_key(name), chosen),
        on_change=_remember(name, options),
        label_visibility="collapsed",
        width=width or "stretch",
    )
    return chosen


def switch(label: str, name: str, *, disabled: bool = False) -> bool:
    """On or off; off by default."""
    on = session.choice(name, ("0", "1")) == "1"
    key = holding(_key(name), on)

    def remember() -> None:
        session.choose(name, "1" if st.session_state[key] else "0", "0")

    st.toggle(label, on, key=key, on_change=remember, disabled=disabled)
    return on


def holding(key: str, value: object) -> str:
    """The key of a widget, made to show this value where its own is another: the reader went back, say.

    What a run sets gets lost (Streamlit 1.67) when the next one follows before the browser has drawn it, and what the
    widget shows instead is then taken for the reader's choice. So the value is set again for a moment; and every widget
    is given it as its default too, for a browser that draws the widget after that.
    """
    if st.session_state.get(key) != value:
        give(key, value)
    elif time.monotonic() - session.set_lately().get(key, float("-inf")) < A_MOMENT:
        st.session_state[key] = value
    return key


def give(key: str, value: object) -> None:
    """Have a widget show another value; in a callback, also for the callbacks after it."""
    session.set_lately()[key] = time.monotonic()
    st.session_state[key] = value


def _key(name: str) -> str:
    return f"choice_{name}"


def _remember(name: str, options: Mapping[T, str]) -> Callable[[], None]:
    default = next(iter(options))
    return lambda: session.choose(name, st.session_state[_key(name)] or default, default)
