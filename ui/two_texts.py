"""Which of an encoder–decoder's three attentions is looked at, what it has written, and the two texts as one row."""

from __future__ import annotations

import streamlit as st

from analysis.joined import as_drawn
from model_runner import Capture
from ui import session
from ui.i18n import _
from ui.inputs import choose_one, holding
from ui.place import Beside
from ui.state import change


def choose_attention(capture: Capture) -> Capture:
    """The controls, and the capture as pages draw it: of two texts in a row where one looks at the other."""
    words = {
        "encoder": _("encoder: the text at itself"),
        "decoder": _("decoder: what is written at itself"),
        "cross": _("cross: what is written at the text"),
    }
    if capture.request.sound is not None:
        words |= {"encoder": _("encoder: the sound at itself"), "cross": _("cross: what is written at the sound")}
    held = session.beside()
    with st.container(key="two_texts", horizontal=True, vertical_alignment="center", gap="small"):
        choose_one(_("attention"), "attention", words, held.attention, lambda one: _look_at(attention=one))
        st.text_input(
            _("what is written"),
            held.target,
            key=holding("target", held.target),
            placeholder=_("it writes: {text}").format(text=capture.attention("decoder").text),
            on_change=lambda: _look_at(target=st.session_state["target"].strip()),
            label_visibility="collapsed",
        )
    return as_drawn(capture)  # never kept: it holds the runner, which may be given up for another


def _look_at(**changes: str) -> None:
    change(Beside, **changes)
    session.continue_with(())
    if "attention" in changes:
        session.move(layer=None, head=None)
