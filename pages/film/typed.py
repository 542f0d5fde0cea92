"""Force any token of the vocabulary in the film by typing it, after the open frame."""

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
LONGEST = 100  # characters; no token is that long


def show_typing(film: GenerationTree) -> None:
    """Show the box, and the last input if it is no token, to be corrected."""
    frame = min(film.at, len(film.take.tokens)) + 1  # as for a click
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
    """Show once why the input is no token."""
    if film.refused:
        st.warning(plain(film.refused))
        film.refused = ""


def _force(film: GenerationTree, frame: int, typed: str) -> None:
    if not typed:
        return
    try:
        logits = film.capture(lambda: None).logits(film.n_prompt + frame - 2)
        film.force(frame, typed_token(film.runner, typed, logits))
        set_value(BOX, "")  # a browser that has not drawn this yet would force it twice
    except UserFacingError as error:
        film.refused = sentence(error)
