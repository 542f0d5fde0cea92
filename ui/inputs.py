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

    What a run sets gets lost (Streamlit 1.67) when the next one follows before the browser has drawn it, and the
    default of the widget is then taken for the reader's choice. So every widget is given this value as its default too;
    and for a moment after a step back, when the widget is there and another run may follow, the value is set again.
    """
    if st.session_state.get(key) != value or session.just_moved():
        st.session_state[key] = value
    return key


def _key(name: str) -> str:
    return f"choice_{name}"


def _remember(name: str, options: Mapping[T, str]) -> Callable[[], None]:
    default = next(iter(options))
    return lambda: session.choose(name, st.session_state[_key(name)] or default, default)
