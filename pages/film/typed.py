"""Any token of the vocabulary forced in the film by typing it, in the place of the one that the frame in view shows."""

from __future__ import annotations

import streamlit as st

from jobs.generation_tree import GenerationTree
from model_runner.errors import UserFacingError
from ui.shared.typed_token import typed_token
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.markdown import plain

LONGEST = 100  # characters, of which no token has as many


def show_typing(film: GenerationTree) -> None:
    """The box, and what was typed last where it is no token; it stays in the box to be mended."""
    tokens = film.take.tokens
    frame = min(max(1, film.at), len(tokens) + 1)  # at the prompt the next token is forced, as by a click
    there = tokens[frame - 1].text if film.at and frame <= len(tokens) else ""
    st.text_input(
        _("Force a token by typing it"),
        key="film_typed",
        placeholder=_("instead of {token}, type …").format(token=there) if there else _("type the next token …"),
        max_chars=LONGEST,
        disabled=film.room == 0,
        label_visibility="collapsed",
        on_change=_force,
        args=(film, frame),
        width=230,
    )


def show_refusal(film: GenerationTree) -> None:
    """Why what was typed is no token, once."""
    if film.refused:
        st.warning(plain(film.refused))
        film.refused = ""


def _force(film: GenerationTree, frame: int) -> None:
    typed = st.session_state["film_typed"]
    if not typed:
        return
    try:
        logits = film.capture(lambda: None).logits(film.n_prompt + frame - 2)
        film.force(frame, typed_token(film.runner, typed, logits))
        st.session_state["film_typed"] = ""
    except UserFacingError as error:
        film.refused = sentence(error)
