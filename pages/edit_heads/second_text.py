"""The second text of the patching view: its box, and both texts token by token."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.joined import apart, encoder_side
from analysis.patching import same_text
from analysis.sentences import joined
from model_runner import Capture
from model_runner.errors import EmptyText, RunnerError
from pages.edit_heads.state import MOST_CHARACTERS, SUGGESTED, EditHeadsState, state
from ui.shared.second_capture import suggested_capture, typed_capture
from ui.shell.components import show_html
from ui.shell.page import PageContext
from ui.state.inputs import on_change, widget_key
from ui.state.kept_click import button
from ui.state.page_state import address_of, change
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.markdown import plain
from viz.text_pair import text_pair
from viz.token_text import shortened

MOST_TOKENS = 256  # each token and layer takes a run of the layers above
NAMED = 44.0  # em, width of a text on a button
WHOLE = 20  # tokens of a text that is shown in full
AROUND = 5  # tokens shown on each side of a differing one in a longer text


def show_other(opened: PageContext, row: DeltaGenerator) -> Capture | None:
    """Show the box in this row and both texts token by token, and return the second one's capture.

    None, with a sentence, if it does not match the first.
    """
    if opened.capture.request.sound is not None:
        words = _(
            "Patching puts parts of a second text’s run into this one. This model hears a sound, not a second text."
        )
        st.info(plain(words))
        return None
    if len(opened.capture.tokens) > MOST_TOKENS:
        words = _(
            "Patching runs the model again for every layer and token, so it is offered for texts of up to {most} "
            "tokens; this one has {tokens}."
        )
        st.info(plain(words.format(most=MOST_TOKENS, tokens=len(opened.capture.tokens))))
        return None
    suggested = suggested_capture(opened, "patch")
    text = state().text
    with row:
        shown = text if text != SUGGESTED else "" if suggested is None else suggested.request.text
        _show_box(shown, any_length=_any_length(opened.capture))
    try:
        other = suggested if text == SUGGESTED else typed_capture(opened, "patch", text)
    except EmptyText:
        st.info(plain(joined(_("The second text is empty."), _wanted(opened.capture))))
        return _offer(suggested)
    except RunnerError as error:
        st.warning(plain(sentence(error)))
        return _offer(suggested)
    if other is None:
        st.info(plain(_wanted(opened.capture)))
        return None
    _show_both(encoder_side(opened.capture), encoder_side(other))
    return other if _fits(opened.capture, other) else _offer(suggested)


def _any_length(capture: Capture) -> bool:
    """Return True if positions are those of a decoder's target, whose length does not depend on the source."""
    return capture.request.attention in ("decoder", "cross")


def _wanted(capture: Capture) -> str:
    if _any_length(capture):
        return _("Type a second text to be read instead of this one; both keep the same output tokens.")
    return _("Type a second text with as many tokens as the first: {tokens}.").format(tokens=len(capture.tokens))


def _show_box(text: str, *, any_length: bool) -> None:
    key = widget_key(address_of(EditHeadsState, "text"), text)
    st.html(f"<span class='atlas-caption'>{_('second text')}</span>", width="content")
    st.text_input(
        _("Second text"),
        text,
        key=key,
        max_chars=MOST_CHARACTERS,
        placeholder=_("A second text") if any_length else _("A second text with as many tokens"),
        label_visibility="collapsed",
        on_change=on_change(
            key, lambda typed: change(EditHeadsState, text=typed)
        ),  # an empty box is reported, not replaced
    )


def _show_both(capture: Capture, other: Capture) -> None:
    """Show both texts; long ones only around the differing tokens."""
    count = min(len(capture.tokens), len(other.tokens))
    pairs = zip(capture.tokens, other.tokens, strict=False)
    differ = [one.id != two.id for one, two in pairs] + [True] * (max(len(capture.tokens), len(other.tokens)) - count)
    near = [
        len(differ) <= WHOLE or any(differ[max(0, place - AROUND) : place + AROUND + 1]) for place in range(len(differ))
    ]
    show_html(
        text_pair(
            [token.text for token in capture.tokens],
            [token.text for token in other.tokens],
            headings=(_("this text"), _("second text")),
            differ=differ,
            shown=near,
            label=_("Both texts token under token; where they differ, both are marked."),
        ),
        key="both_texts",
    )


def _fits(capture: Capture, other: Capture) -> bool:
    """Return True if the texts can be patched into one another; otherwise say why not."""
    counts = len(apart(capture).tokens), len(other.tokens)
    if counts[0] != counts[1]:
        words = _(
            "This text has {tokens} tokens, the second {others}: a patch goes from a position to the same position, so "
            "both need equally many. Exchange a word for one of as many tokens."
        )
        st.info(plain(words.format(tokens=counts[0], others=counts[1])))
        return False
    if same_text(capture, other):
        st.info(plain(_("Both texts have the same tokens, so there is nothing to patch. Exchange a word.")))
        return False
    return True


def _offer(suggested: Capture | None) -> None:
    """Offer a suggested text that matches, if there is one."""
    if suggested is not None:
        words = _("Take “{text}”").format(text=shortened(suggested.request.text, NAMED))
        button(plain(words), key="patch_back", on_click=lambda: change(EditHeadsState, text=SUGGESTED))
