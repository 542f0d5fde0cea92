"""Which attention a page shows: an encoder-decoder's encoder self-, decoder self- or cross-attention, and which keys:
tokens or compressed.
"""

from __future__ import annotations

import streamlit as st

from analysis.joined import as_square
from model_runner import Capture
from model_runner.request import FREE_RUN
from ui.state import session
from ui.state.inputs import choose_one, on_change, widget_key
from ui.state.page_state import change
from ui.state.selection import MOST_WRITTEN, ModelOptions
from ui.wording.i18n import _


def choose_attention(capture: Capture) -> Capture:
    """Show the controls and return the capture as pages draw it; cross-attention becomes one row of two texts.

    A classifier's decoder reads the same text again and writes nothing.
    """
    hears = capture.request.sound is not None
    words = {
        "encoder": _("encoder: the sound at itself") if hears else _("encoder: the text at itself"),
        "decoder": _("decoder: what is written at itself"),
        "cross": _("cross: what is written at the sound") if hears else _("cross: what is written at the text"),
    }
    if capture.class_logits is not None:
        words["decoder"] = _("decoder: the text, read again, at itself")
        words["cross"] = _("cross: the text, read again, at the text")
    with st.container(key="two_texts", horizontal=True, vertical_alignment="center", gap="small"):
        choose_one(_("attention"), "attention", words, session.model_options().attention, _look_at)
        if capture.class_logits is None:
            write(_("it writes: {text}").format(text=capture.attention("decoder").text))
    if _stopped(capture):
        words = _("The model was stopped after {count} tokens; it had not finished.").format(count=FREE_RUN)
        st.html(f"<p class='atlas-caption'>{words}</p>")
    return as_square(capture)  # not cached: it holds the runner, which may be evicted


def choose_keys(capture: Capture, compressed: Capture) -> Capture:
    """Show the control and return the capture as pages draw it: tokens' own keys, or compressed keys."""
    words = {"tokens": _("tokens"), "compressed": _("keys of several tokens")}
    choose_one(_("keys"), "keys", words, session.model_options().keys, _look_at_keys)
    return capture if session.model_options().keys == "tokens" else as_square(compressed)


def _look_at_keys(keys: str) -> None:
    change(ModelOptions, keys=keys)
    session.move(layer=None, head=None)


def _stopped(capture: Capture) -> bool:
    """Return True if the model wrote the target itself and reached its length limit."""
    if session.model_options().target or capture.class_logits is not None:
        return False
    return len(capture.attention("decoder").tokens) - len(session.continuation()) > FREE_RUN


def write(itself: str = "") -> None:
    """Show the box for the target text; while it is empty, the placeholder shows what the model writes."""
    label, held = _("what is written"), session.model_options().target
    st.text_input(
        label,
        held,
        key=widget_key("target", held),
        max_chars=MOST_WRITTEN,
        placeholder=itself,
        on_change=on_change("target", _write),
        label_visibility="collapsed",
    )


def _write(target: str) -> None:
    change(ModelOptions, target=target.strip())
    session.continue_with(())


def _look_at(attention: str) -> None:
    change(ModelOptions, attention=attention)
    session.continue_with(())
    session.move(layer=None, head=None)
