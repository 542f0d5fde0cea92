"""Selection of a token: the likeliest, one from a list, or a typed one."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import streamlit as st

from analysis.joined import decoder_side
from model_runner.errors import NoSuchPlace, RunnerError
from pages.edit_heads.state import EditHeadsState, state
from ui.shared.typed_token import typed_token
from ui.shell.page import PageContext
from ui.state import url_state
from ui.state.inputs import pick_one
from ui.state.page_state import address_of, change, refuse
from ui.wording.sentences import sentence

N_ = str  # marks a text for Babel without translating it here

TYPED = "'"


def token_of(opened: PageContext, name: str, usual: int) -> int:
    """Return the id in this field. An invalid one is reported and replaced by ``usual``."""
    held, logits = getattr(state(), name), decoder_side(opened.capture).logits(-1)
    if not held:
        return usual
    try:
        if held.isascii() and held.isdigit() and len(held) < 10:
            if int(held) >= len(logits):
                raise NoSuchPlace(what=N_("token id"), value=int(held), count=len(logits))
            return int(held)
        token = typed_token(opened.runner, held.removeprefix(TYPED), logits)
    except RunnerError as error:
        refuse(EditHeadsState, name, sentence(error))
        return usual
    _hold(name, token, usual)
    url_state.write()
    return token


def class_of(opened: PageContext, name: str, usual: int, count: int) -> int:
    """Like :func:`token_of`, for one of a classifier's ``count`` classes, given by number only."""
    held = getattr(state(), name)
    if not held:
        return usual
    if held.isascii() and held.isdigit() and len(held) < 10 and int(held) < count:
        return int(held)
    value = int(held) if held.isascii() and held.isdigit() and len(held) < 10 else held.removeprefix(TYPED)
    refuse(EditHeadsState, name, sentence(NoSuchPlace(what=N_("class"), value=value, count=count)))
    return usual


def show_tokens(  # noqa: PLR0913  the parts of one widget, as st.selectbox has them
    opened: PageContext,
    name: str,
    label: str,
    beside: str,
    token: int,
    offered: Mapping[int, str],
    usual: int,
    width: int,
    typed: bool = True,
) -> None:
    """Show a list of tokens (id → words), in which any other can be ``typed``; ``beside`` is shown before it."""
    options = {token: opened.runner.token_text(token), **offered} if token not in offered else offered
    st.html(f"<span class='atlas-caption'>{escape(beside)}</span>", width="content")
    pick_one(
        label,
        address_of(EditHeadsState, name),
        options,
        token,
        lambda chosen: _hold(name, chosen, usual),
        typed=(lambda text: change(EditHeadsState, **{name: f"{TYPED}{text}"})) if typed else None,
        width=width,
    )


def _hold(name: str, token: int, usual: int) -> None:
    change(EditHeadsState, **{name: "" if token == usual else str(token)})
