"""The edits collected in a session: held in the URL and available on every page."""

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

MOST = 40  # each is a button, and all of them are in the URL


@dataclass(frozen=True)
class Edits:
    """The edits that every page can apply, whichever page collected them."""

    SCOPE: ClassVar[str] = ""

    edits: tuple[Edit, ...] = setting((), N_("edits"))


def held() -> tuple[Edit, ...]:
    """Return the URL's edits. An invalid one is reported and dropped; the others stay."""
    edits = current(Edits).edits
    url_state.write()
    return edits


def now() -> tuple[Edit, ...]:
    """Return the edits as of this click; several quick clicks may change them before a page is drawn."""
    return page_state.held(Edits)[0].edits


def keep(edits: Sequence[Edit]) -> None:
    """Store the edits."""
    change(Edits, edits=tuple(edits))


def show_everywhere(new: Sequence[Edit] = ()) -> None:
    """Show the toggle that applies the edits together with ``new`` to all pages, and say so when it is on.

    Shows nothing without edits. A new edit replaces a stored one of the same target.
    """
    if not (edits := functools.reduce(with_edit, new, held())):
        return
    on = bool(session.edits_on_all_pages()) and edits == now()
    others = ", ".join(edit_name(edit, _) for edit in edits if new and edit not in new)

    def carry(wanted: bool) -> None:
        edits = functools.reduce(with_edit, new, now())
        if wanted != (
            bool(session.edits_on_all_pages()) and edits == now()
        ):  # after an interrupted run the event may be repeated
            keep(edits)
            session.apply_to_all_pages(wanted)

    st.toggle(_("use on every page"), on, key=widget_key("everywhere", on), on_change=on_change("everywhere", carry))
    words = _("Other pages show the model changed like this now.") if on else ""
    if others:
        together = _("Other pages show the model changed like this now, together with what is in the list: {edits}")
        words = (together if on else _("together with what is in the list: {edits}")).format(edits=escape(others))
    if words:
        st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
