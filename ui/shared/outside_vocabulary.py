"""Words outside the embedded translator's vocabulary, reported beside its output, with a text that it can translate."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import streamlit as st

from analysis.cut_words import cut_words
from analysis.examples import examples_of
from model_runner import Capture
from ui.state import session
from ui.state.inputs import set_value
from ui.state.kept_click import button
from ui.wording.i18n import _, language

TRANSLATOR = "translator"
NAMED = 3  # words that are named


def offer_known_text(capture: Capture, key: str, use: Callable[[str], None] | None = None) -> None:
    """Show the unknown words and a button for the translator's own example; nothing if it knows all words.

    ``use`` receives the example; by default it becomes the session's text.
    """
    unread = cut_words(capture.attention("encoder"))
    if not unread:
        return
    named = ", ".join(f"“{word}”" for word in unread[:NAMED]) + (" …" if len(unread) > NAMED else "")
    words = _(
        "The embedded translator knows few words and has never seen {words}: what it writes here is not a translation."
    )
    example = examples_of(TRANSLATOR, language())[0].text
    with st.container(key=f"{key}_unread", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<p class='atlas-caption'>{escape(words.format(words=named))}</p>", width="content")
        label = _("Use one of its own sentences")
        button(label, key=f"{key}_known", type="tertiary", help=example, on_click=use or _use, args=(example,))


def _use(text: str) -> None:
    set_value("text_box", text)  # overrides text that was typed but not submitted
    session.set_text(text)
