"""Widgets of a page's state: each shows a field and changes it, whatever the language its words are in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from ui.i18n import _
from ui.inputs import choose_one, hear, holding, pick_one, telling
from ui.state import State, address_of, change, setting_of


def choose(kind: type[State], name: str, value: str, words: Mapping[Any, str], *, disabled: bool = False) -> None:
    """One of these values (value → words) as a row of segments."""
    choose_one(_label(kind, name), address_of(kind, name), words, value, _remember(kind, name), disabled=disabled)


def pick(
    kind: type[State],
    name: str,
    value: Any,
    words: Mapping[Any, str],
    *,
    width: int | None = None,
    label: str = "",
    disabled: bool = False,
) -> None:
    """One of many values (value → words), as a list that opens; ``label`` stands above it, if it is to be seen."""
    then, key, hidden = _remember(kind, name), address_of(kind, name), not label
    pick_one(label or _label(kind, name), key, words, value, then, width=width, hidden=hidden, disabled=disabled)


def switch(kind: type[State], name: str, value: bool, words: str, *, disabled: bool = False) -> None:
    """On or off."""
    key = holding(address_of(kind, name), value)
    st.toggle(words, value, key=key, on_change=telling(key, _remember(kind, name)), disabled=disabled)


def slider(  # noqa: PLR0913  what st.slider takes, by keyword
    kind: type[State],
    name: str,
    value: float,
    span: tuple[float, float],
    words: str,
    *,
    step: float | None = None,
    item: str | None = None,
    width: int | None = None,
    disabled: bool = False,
) -> None:
    """A number between two others; ``item`` is one of a field that holds several by name."""
    key = holding(address_of(kind, name) + (f".{item}" if item else ""), value)

    then = telling(key, lambda chosen: change(kind, **{name: {item: chosen} if item else chosen}))
    st.slider(words, *span, value, step=step, key=key, on_change=then, width=width or "stretch", disabled=disabled)


def steps(kind: type[State], name: str, value: Any, words: Mapping[Any, str]) -> None:
    """One of some values in order (value → words), as a slider that knows these alone."""
    key = address_of(kind, name)
    st.select_slider(
        _label(kind, name),
        list(words),
        value,
        format_func=words.__getitem__,
        key=holding(key, value, words),
        on_change=hear(key, words, _remember(kind, name)),
        label_visibility="collapsed",
    )


def number(
    kind: type[State], name: str, value: int, span: tuple[int, int], words: str, *, width: int | None = None
) -> None:
    """A whole number between two others, typed or stepped."""
    key = holding(address_of(kind, name), value)
    st.number_input(
        words,
        *span,
        value,
        step=1,
        key=key,
        on_change=telling(key, _remember(kind, name)),
        width=width or "stretch",
    )


def _label(kind: type[State], name: str) -> str:
    return _(setting_of(kind, name).label)


def _remember(kind: type[State], name: str) -> Callable[[Any], None]:
    return lambda value: change(kind, **{name: value})
