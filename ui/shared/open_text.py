"""Offer an open-ended text if the example's next token is nearly certain: sampling would show a single bar."""

from __future__ import annotations

from html import escape

import streamlit as st

from analysis.examples import open_text
from model_runner import Capture
from ui.state import session
from ui.state.inputs import set_value
from ui.state.kept_click import button
from ui.state.url_state import DEFAULT_MODEL
from ui.wording.i18n import _, language
from ui.wording.sentences import number


def offer_open_text(capture: Capture) -> None:
    """Show the sentence and a button; nothing if the next token is uncertain or the text is the reader's own."""
    if session.model() != DEFAULT_MODEL or session.continuation():
        return
    largest = float(capture.logits(len(capture.tokens) - 1).double().softmax(-1).max())
    text = open_text(session.text(), largest, language())
    if not text:
        return
    words = _("The model is {share} sure of the next token here, so there is little to choose.")
    with st.container(key="open_text", horizontal=True, vertical_alignment="center", gap="small"):
        said = escape(words.format(share=number(largest, "share")))
        st.html(f"<p class='atlas-caption'>{said}</p>", width="content")
        label = _("Take a text that leaves it open")
        button(label, key="take_open_text", type="tertiary", help=text, on_click=_take, args=(text,))


def _take(text: str) -> None:
    set_value("text_box", text)  # overrides text that was typed but not submitted
    session.set_text(text)
