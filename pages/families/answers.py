"""Each kind's output: the next token, the masked word, or a target text with its inputs at each position."""

from __future__ import annotations

import math
from html import escape

import streamlit as st

from analysis.families import Kind
from analysis.hidden_word import MARK, words_in
from analysis.next_token import end_of_text
from analysis.number_text import significant
from analysis.sentences import joined
from analysis.stories import whole_word
from analysis.teacher_forcing import loss
from analysis.units import character_units
from jobs.families import MODEL_OF, Guess, ReadBy
from pages.families.readings import PREFIX, hidden_word, prefix_length
from pages.families.state import FamiliesState
from ui.shared.outside_vocabulary import offer_known_text
from ui.shared.what_if import output_name
from ui.shell.components import show_html
from ui.shell.page import translated
from ui.state import selection, session
from ui.state.controls import pick, slider
from ui.state.inputs import choose_one, on_change, widget_key
from ui.state.kept_click import button
from ui.state.page_state import change
from ui.wording.i18n import _
from viz.distribution import TEXTS, next_token_bars
from viz.forced_table import TEXTS as FORCED_TEXTS
from viz.forced_table import ForcedRow, forced_table
from viz.markdown import plain


def show_controls(kind: Kind, read: ReadBy, *, own_two: bool) -> None:
    """Show the inputs of this kind; ``own_two``: the controls of an encoder-decoder are already shown above."""
    if kind == "prefix":
        n_tokens = len(read.capture.tokens)
        counts = _("tokens that see each other both ways")
        words = plain(f"{_(PREFIX.parameters[0].label)} · {counts}")
        if n_tokens > 1:
            slider(FamiliesState, "length", prefix_length(n_tokens), (0, n_tokens), words)
    elif kind == "encoder":
        _ask_word()
    elif kind == "two" and not own_two:
        _ask_target(read)


def _ask_word() -> None:
    """Select the masked word, unless the text masks one itself."""
    found, chosen = words_in(session.text()), hidden_word()
    if chosen is not None and MARK not in session.text():
        named = [word.text for word in found]
        again = [
            f"{text} ({named[: i + 1].count(text)})" if named.count(text) > 1 else text for i, text in enumerate(named)
        ]
        words = {i: _("hidden: {word}").format(word=word) for i, word in enumerate(again)}
        pick(FamiliesState, "word", chosen, words)


def _ask_target(read: ReadBy) -> None:
    """Enter the target text that the decoder is given."""
    held = session.model_options().target
    st.text_input(
        _("what is written"),
        held,
        key=widget_key("family_target", held),
        max_chars=selection.MOST_WRITTEN,
        placeholder=_("it writes: {text}").format(text=read.free),
        on_change=on_change("family_target", lambda typed: change(selection.ModelOptions, target=typed.strip())),
        label_visibility="collapsed",
    )


def choose_attention() -> None:
    """Select which of an encoder-decoder's three attentions is drawn."""
    names = {"encoder": _("reading"), "decoder": _("writing"), "cross": _("across")}
    choose_one(_("attention"), "family_attention", names, session.model_options().attention, _look_at)


def _look_at(attention: str) -> None:
    change(selection.ModelOptions, attention=attention)
    change(FamiliesState, head=None, query=None, key=None, window=None)


def show_answer(kind: Kind, read: ReadBy) -> None:
    """Show the model's output for the text."""
    if kind == "two":
        if session.model() != MODEL_OF[kind]:  # otherwise the page's head reports it
            offer_known_text(read.capture, "family")
        _offer_target(read)
        _show_forced(read)
    elif read.guess is not None:
        _show_guess(kind, read, read.guess)
    if kind == "prefix":
        words = _("This model learnt to look back only; what it says with another mask shows what it was trained for.")
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    if kind in ("causal", "prefix") and MARK in session.text():
        words = _("It reads up to the hidden word, since it cannot look beyond.")
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")


def _show_guess(kind: Kind, read: ReadBy, guess: Guess) -> None:
    token = read.capture.tokens[guess.position]
    hidden = kind == "encoder" and token.hidden
    show_html(
        next_token_bars(
            list(guess.labels),
            list(guess.probabilities),
            rest=guess.rest,
            heading=output_name(guess.position if kind == "encoder" else None),
            beside=_("in place of {token}").format(token=token.text) if hidden else "",
            follows=("", True) if kind == "encoder" else end_of_text(character_units(read.capture), guess.position + 1),
            begins=whole_word(read.capture, guess.labels[0]) if kind == "causal" else "",
            texts=translated(TEXTS),
        ),
        key="family_next",
    )


def _show_forced(read: ReadBy) -> None:
    """Show the target shifted by one position, beside the model's own predictions."""
    rows = [
        ForcedRow(one.given, one.wanted, _known(one.probability), one.own, one.free, one.wanted != one.own)
        for one in read.said
    ]
    show_html(
        forced_table(
            rows,
            heading=_("Teacher forcing"),
            beside=_("mean −ln p: {loss} nats").format(loss=significant(loss(read.forced), 3)),
            texts=translated(FORCED_TEXTS),
        ),
        key="family_forced",
    )
    words = _("Whatever it would have said, its next input is the target’s own word, so all positions train at once.")
    if not session.model_options().target:
        words = joined(_("Here the target is what it writes by itself."), words)
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")


def _offer_target(read: ReadBy) -> None:
    """Offer a target to try, or a button that clears it."""
    if session.model_options().target:
        button(_("let it write freely"), key="family_free", type="tertiary", on_click=_force, args=("",))
    elif read.other:
        label = plain(_("force another word: {text}").format(text=read.other))
        button(label, key="family_force", type="tertiary", on_click=_force, args=(read.other,))


def _force(target: str) -> None:
    change(selection.ModelOptions, target=target)
    change(FamiliesState, query=None, key=None, window=None)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
