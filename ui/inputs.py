"""Widgets that give typed values and keep them in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st


def choose(label: str, key: str, options: Mapping[str, str], *, disabled: bool = False) -> str:
    """One of the options (value → words), as a row of segments; the first is the default."""
    chosen = st.segmented_control(
        label,
        list(options),
        default=next(iter(options)),
        required=True,
        format_func=lambda value: options[value],
        key=key,
        bind="query-params",
        label_visibility="collapsed",
        disabled=disabled,
    )
    return chosen if chosen in options else next(iter(options))


def pick(label: str, key: str, options: Sequence[str], words: Mapping[str, str], *, index: int = 0) -> str:
    """One of many options, as a list that opens."""
    return st.selectbox(
        label,
        options,
        index=index,
        format_func=lambda value: words[value],
        key=key,
        bind="query-params",
        label_visibility="collapsed",
    )


def switch(label: str, key: str, *, hint: str | None = None, disabled: bool = False) -> bool:
    """On or off; off by default."""
    return st.toggle(label, key=key, bind="query-params", help=hint, disabled=disabled)
