"""Any token of the vocabulary forced in the film by typing it, after the frame in view."""

from __future__ import annotations

import streamlit as st

from jobs.generation_tree import GenerationTree
from model_runner.errors import UserFacingError
from ui.shared.typed_token import typed_token
from ui.state.inputs import on_change, set_value
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.markdown import plain

BOX = "film_typed"
LONGEST = 100  # characters, of which no token has as many


def show_typing(film: GenerationTree) -> None:
    """The box, and what was typed last where it is no token; it stays in the box to be mended."""
    frame = min(film.at, len(film.take.tokens)) + 1  # as by a click
    st.text_input(
        _("Force a token by typing it"),
        key=BOX,
        placeholder=_("type the next token …"),
        max_chars=LONGEST,
        disabled=frame > film.room,
        label_visibility="collapsed",
        on_change=on_change(BOX, lambda typed: _force(film, frame, typed)),
        width=230,
    )


def show_refusal(film: GenerationTree) -> None:
    """Why what was typed is no token, once."""
    if film.refused:
        st.warning(plain(film.refused))
        film.refused = ""


def _force(film: GenerationTree, frame: int, typed: str) -> None:
    if not typed:
        return
    try:
        logits = film.capture(lambda: None).logits(film.n_prompt + frame - 2)
        film.force(frame, typed_token(film.runner, typed, logits))
        set_value(BOX, "")  # what a browser that has not drawn it sends again is not forced twice
    except UserFacingError as error:
        film.refused = sentence(error)
