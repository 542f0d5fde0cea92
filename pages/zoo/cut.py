"""The part of the text that the page Zoo shows: the head, and the tokens drawn of a long text."""

from __future__ import annotations

from html import escape

import streamlit as st

from analysis.sentences import joined
from analysis.zoo import LARGEST
from pages.zoo.state import ZooState
from ui.shell.page import PageContext
from ui.state.controls import slider
from ui.wording.i18n import _
from viz.markdown import plain


def show_cut(opened: PageContext, start: int) -> None:
    """Show, for a long text, which tokens are drawn, whether the pinned one is among them, and a slider that moves
    them.
    """
    tokens = opened.capture.tokens
    total = len(tokens)
    if total <= LARGEST:
        return
    stop = start + LARGEST
    said = _("Showing tokens {first} to {last} of {total}, as if there were none before them.")
    if not start:
        said = _("Showing the first {count} of {total} tokens.")
    words = said.format(first=start, last=stop - 1, count=LARGEST, total=total)
    if opened.query is not None and not start <= opened.query < stop:
        outside = _("{token} ({place}) is not among them: move the first token drawn.")
        words = joined(words, outside.format(token=tokens[opened.query].text, place=opened.query))
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    slider(ZooState, "start", start, (0, total - LARGEST), plain(_("first token drawn")))
