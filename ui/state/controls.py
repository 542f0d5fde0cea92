"""Widgets bound to a field of a page's state: they show and change it, whatever the language of their labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

from ui.state.inputs import choose_one, on_change, on_option_change, pick_one, widget_key
from ui.state.page_state import State, address_of, change, setting_of
from ui.wording.i18n import _

V = TypeVar("V")


def choose(
    kind: type[State],
    name: str,
    value: object,
    words: Mapping[V, str],
    *,
    label: str = "",
    item: str | None = None,
    disabled: bool = False,
) -> None:
    """A segmented control for one of these values (value → words); ``item`` names one of a field's several values.

    ``label`` replaces the field's own name.
    """
    then = _remember(kind, name, item)
    choose_one(label or _label(kind, name), _key(kind, name, item), words, value, then, disabled=disabled)


def pick(
    kind: type[State],
    name: str,
    value: object,
    words: Mapping[V, str],
    *,
    width: int | None = None,
    label: str = "",
    disabled: bool = False,
) -> None:
    """A select box for one of many values (value → words); ``label`` is shown above it if given."""
    then, key, hidden = _remember(kind, name), address_of(kind, name), not label
    pick_one(label or _label(kind, name), key, words, value, then, width=width, hidden=hidden, disabled=disabled)


def switch(kind: type[State], name: str, value: bool, words: str, *, disabled: bool = False) -> None:
    """A toggle."""
    key = widget_key(address_of(kind, name), value)
    st.toggle(words, value, key=key, on_change=on_change(key, _remember(kind, name)), disabled=disabled)


def slider(  # noqa: PLR0913  what st.slider takes, by keyword
    kind: type[State],
    name: str,
    value: float,
    span: tuple[float, float],
    words: str,
    *,
    step: float | None = None,
    item: str | None = None,
    besides: Mapping[str, int] | None = None,
    per: int = 1,
    width: int | None = None,
    disabled: bool = False,
) -> None:
    """A slider; ``item`` names one of a field's several values.

    ``besides`` are other items, which are stored too from the first change on. ``per``: the field counts hundredths
    (100) or tenths (10), shown as decimals.
    """
    least, most, shown, form = *span, value, None
    if per > 1:
        least, most, shown = (one / per for one in (*span, value))
        step, form = (step or 1) / per, f"%.{len(str(per)) - 1}f"
    key, remember = widget_key(_key(kind, name, item), shown), _remember(kind, name, item, besides)
    then = on_change(key, lambda chosen: remember(round(chosen * per) if per > 1 else chosen))
    st.slider(
        words, least, most, shown, step=step, format=form, key=key, on_change=then, width=width or "stretch",
        disabled=disabled,
    )  # fmt: skip  # its many settings in two lines


def steps(kind: type[State], name: str, value: object, words: Mapping[V, str]) -> None:
    """A slider over an ordered set of values (value → words)."""
    key = address_of(kind, name)
    st.select_slider(
        _label(kind, name),
        list(words),
        value,
        format_func=words.__getitem__,
        key=widget_key(key, value, words),
        on_change=on_option_change(key, words, _remember(kind, name)),
        label_visibility="collapsed",
    )


def number(
    kind: type[State], name: str, value: int, span: tuple[int, int], words: str, *, width: int | None = None
) -> None:
    """A number input for an integer within bounds."""
    key = widget_key(address_of(kind, name), value)
    st.number_input(
        words,
        *span,
        value,
        step=1,
        key=key,
        on_change=on_change(key, _remember(kind, name)),
        width=width or "stretch",
    )


def _label(kind: type[State], name: str) -> str:
    return _(setting_of(kind, name).label)


def _key(kind: type[State], name: str, item: str | None) -> str:
    return address_of(kind, name) + (f".{item}" if item else "")


def _remember(
    kind: type[State], name: str, item: str | None = None, besides: Mapping[str, int] | None = None
) -> Callable[[object], None]:
    return lambda value: change(kind, **{name: {**(besides or {}), item: value} if item else value})
