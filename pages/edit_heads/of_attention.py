"""Edits of the selected attention: in an encoder-decoder model one of three, otherwise the only one.

Cross-attention is drawn as one row of both texts, so that a query's position is offset by the source's length; an edit
counts positions in the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from analysis.joined import as_square, decoder_side, first_query, lowered, same_tokens
from model_runner.edit_list import Cell
from model_runner.edits import Edit, OfAttention, OneEdit, check_cells, edits_of
from ui.shell.page import PageContext, show_stage
from ui.state import session
from ui.state.frame_slots import frame_slots
from ui.wording.i18n import _

MOST_SAID = 24  # characters


def attention_of(opened: PageContext) -> str | None:
    """The attention's name; None for a model with a single stack."""
    return opened.capture.request.attention if opened.capture.attentions else None


def named(opened: PageContext, edit: OneEdit) -> Edit:
    """The edit as stored in the list."""
    attention = attention_of(opened)
    return edit if attention is None else OfAttention(attention, edit)


def own(opened: PageContext, edits: Sequence[Edit]) -> tuple[OneEdit, ...]:
    """The edits in the list that are of this attention."""
    return edits_of(edits, attention_of(opened))


def check_every_cell(opened: PageContext, edits: Sequence[Edit]) -> None:
    """Raises NoSuchPlace for a hidden cell outside the texts of its attention."""
    capture = opened.capture
    check_cells(edits, len(capture.tokens))
    for attention in capture.attentions:
        one = capture.attention(attention)
        check_cells(edits_of(edits, attention), len(one.tokens), len(one.keys))


def counted(opened: PageContext, cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Convert cells as drawn to positions as edits count them."""
    return lowered(cells, -first_query(opened.capture))


def up_to_query(opened: PageContext) -> PageContext:
    """Cut the target after the query, so that the prediction is the token after it; unchanged for a single stack.

    Raises RunnerError.
    """
    if opened.query is None or opened.runner.info.classes or attention_of(opened) in (None, "encoder"):
        return opened
    request = same_tokens(opened.capture, opened.capture.request.edits)
    ids = request.continuation[: opened.query - first_query(opened.capture)]
    try:
        capture = session.asked(opened.runner, replace(request, continuation=ids), show_stage)
    finally:
        frame_slots().status.empty()
    return replace(opened, capture=as_square(capture))


def say_after_what(opened: PageContext, *, follows_query: bool) -> None:
    """Say which target token the prediction follows, and how to change it."""
    if opened.capture.attentions:
        words = _("After “{text}”: click a token of the output, or type the output above.")
        if attention_of(opened) == "encoder" or not follows_query:
            words = _("After “{text}”: type the output so far above, to look at another next token.")
        text = decoder_side(opened.capture).text[-MOST_SAID:]
        st.html(f"<p class='atlas-caption'>{escape(words.format(text=text))}</p>")
