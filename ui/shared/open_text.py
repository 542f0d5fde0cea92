"""A text with a choice, offered where an example's next token is all but certain and sampling would show one bar."""

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
    """The sentence and a button; nothing where the next token is open, or the text is the reader's own."""
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
    set_value("text_box", text)  # what was typed and not yet asked for must not win
    session.set_text(text)
