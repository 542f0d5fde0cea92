"""The display menu of a figure. Settings that differ from their defaults are shown beside it as buttons that reset
them.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from html import escape

import streamlit as st

from ui.state.controls import choose
from ui.state.kept_click import button
from ui.state.page_state import State, address_of, change, default_of, setting_of
from ui.wording.i18n import _


@contextmanager
def display_menu(key: str) -> Generator[None]:
    """Draw the block's contents inside the menu, one per line."""
    with (
        st.container(key=f"{key}_display", width="content"),
        st.popover(_("Display"), key=f"{key}_menu", width="content"),
    ):
        yield


def choose_display(
    kind: type[State], name: str, value: object, words: Mapping[str, str], *, disabled: bool = False
) -> None:
    """Show a field of a page's state in the menu as a label and a segmented control."""
    st.html(f"<p class='atlas-caption'>{escape(_(setting_of(kind, name).label))}</p>")
    choose(kind, name, value, words, disabled=disabled)


def show_changed(kind: type[State], now: Mapping[str, tuple[object, str]]) -> None:
    """Show the fields in ``now`` (name → value and its words) that differ from their defaults; a click resets one."""
    for name, (value, words) in now.items():
        usual = default_of(kind, name)
        if value != usual:
            button(
                f"{words} ×",
                key=f"{address_of(kind, name)}.usual",
                on_click=change,
                args=(kind,),
                kwargs={name: usual},
            )
