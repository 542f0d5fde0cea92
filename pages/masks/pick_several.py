"""A multi-select box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import streamlit as st

from ui.state.inputs import on_change, option_words, widget_key
from ui.state.page_state import State, address_of, change, setting_of
from ui.wording.i18n import _

V = TypeVar("V")


def pick_several(
    kind: type[State], name: str, values: Sequence[V], words: Mapping[V, str], *, none: str, width: int = 210
) -> None:
    """Select some of these values (value → words); ``none`` is the placeholder of the empty box."""
    key = address_of(kind, name)

    def remember(chosen: list[V | str]) -> None:
        ever = option_words(key).ever  # a browser may send the words that it drew last
        told = {one if one in words else ever.get(str(one), one) for one in chosen}
        change(kind, **{name: tuple(one for one in words if one in told)})

    st.multiselect(
        _(setting_of(kind, name).label),
        list(words),
        list(values),
        format_func=words.__getitem__,
        key=widget_key(key, list(values), words),
        placeholder=none,
        on_change=on_change(key, remember),
        label_visibility="collapsed",
        select_all=False,  # its label is English in every language, and an empty selection means all
        width=width,
    )
