"""The edits that a session has collected: in the address, and used on every page."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import ClassVar

import streamlit as st

from model_runner.edit_list import with_edit
from model_runner.edit_words import edit_name
from model_runner.edits import Edit
from ui.state import page_state, session, url_state
from ui.state.inputs import on_change, widget_key
from ui.state.page_state import change, current, setting
from ui.wording.i18n import _

N_ = str  # marks a text for Babel without translating it here

MOST = 40  # edits; each is a button, and all of them are in the address


@dataclass(frozen=True)
class Edits:
    """What every page can be told to look at the model with, whichever collected it."""

    SCOPE: ClassVar[str] = ""

    edits: tuple[Edit, ...] = setting((), N_("edits"))


def held() -> tuple[Edit, ...]:
    """The list of the address. A part that is no edit is said and dropped; the others stay."""
    edits = current(Edits).edits
    url_state.write()
    return edits


def now() -> tuple[Edit, ...]:
    """The list at the moment a click is answered: quick clicks change it before a page that shows it is drawn."""
    return page_state.held(Edits)[0].edits


def keep(edits: Sequence[Edit]) -> None:
    """Remember the list."""
    change(Edits, edits=tuple(edits))


def show_everywhere(new: Sequence[Edit] = ()) -> None:
    """The switch that has every page look at the model changed by the list, which ``new`` joins; it says that it does.

    None for no edit. What a new one says of the same thing takes the place of what the list said.
    """
    if not (edits := functools.reduce(with_edit, new, held())):
        return
    on = bool(session.edits_on_all_pages()) and edits == now()
    others = ", ".join(edit_name(edit, _) for edit in edits if new and edit not in new)

    def carry(wanted: bool) -> None:
        edits = functools.reduce(with_edit, new, now())
        if wanted != (
            bool(session.edits_on_all_pages()) and edits == now()
        ):  # after a run that was cut off it may be told anew
            keep(edits)
            session.apply_to_all_pages(wanted)

    st.toggle(_("use on every page"), on, key=widget_key("everywhere", on), on_change=on_change("everywhere", carry))
    words = _("Other pages show the model changed like this now.") if on else ""
    if others:
        together = _("Other pages show the model changed like this now, together with what is in the list: {edits}")
        words = (together if on else _("together with what is in the list: {edits}")).format(edits=escape(others))
    if words:
        st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
