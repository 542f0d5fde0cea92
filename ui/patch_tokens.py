"""The two tokens whose logits the patching view compares: the likeliest of either text, or chosen, or typed."""

from __future__ import annotations

import streamlit as st

from analysis.patching import contrasting, likely_tokens
from model_runner import Capture
from model_runner.errors import NoSuchPlace, RunnerError
from ui import session
from ui.i18n import _
from ui.page import Opened
from ui.typed_token import typed_token
from ui.wording import plain, sentence

N_ = str  # marks a text for Babel without translating it here

NAMES = ("patch_first", "patch_second")  # of the choices: a token's id, or what was typed after a '
TYPED = "'"


def chosen_tokens(opened: Opened, other: Capture) -> tuple[int, int]:
    """The two tokens' ids; what was typed and is no token, or the same twice, is said, and others stand in."""
    usual = contrasting(opened.capture, other)
    first = _chosen(opened, NAMES[0], usual[0])
    second = _chosen(opened, NAMES[1], usual[1])
    if first == second:
        second = usual[1] if first != usual[1] else usual[0]
        words = _("Both tokens are “{token}”, whose difference is always 0: “{second}” stands in for the second.")
        named = {"token": opened.runner.token_text(first), "second": opened.runner.token_text(second)}
        st.info(plain(words.format(**named)))
    return first, second


def show_tokens(opened: Opened, other: Capture, tokens: tuple[int, int]) -> None:
    """Two lists to choose from, which also take what is typed."""
    usual, offered = contrasting(opened.capture, other), likely_tokens(opened.capture, other)
    labels = _("logit of"), _("minus logit of")
    st.html(f"<span class='atlas-caption'>{labels[0]}</span>", width="content")
    _list(opened, _("First token"), NAMES[0], tokens[0], offered, usual[0])
    st.html(f"<span class='atlas-caption'>{labels[1]}</span>", width="content")
    _list(opened, _("Second token"), NAMES[1], tokens[1], offered, usual[1])


def _chosen(opened: Opened, name: str, usual: int) -> int:
    """The id of the address; what is none is said until another is chosen, and the usual one stands in."""
    written = session.written(name)
    if written is None:
        return usual
    logits = opened.capture.logits(-1)
    try:
        if written.isdecimal() and len(written) < 10:
            if int(written) >= len(logits):
                raise NoSuchPlace(what=N_("token id"), value=int(written), count=len(logits))
            return int(written)
        token = typed_token(opened.runner, written.removeprefix(TYPED), logits)
    except RunnerError as error:
        st.info(plain(sentence(error)))
        return usual
    session.choose(name, "" if token == usual else str(token), "")
    session.write_address()
    return token


def _list(opened: Opened, label: str, name: str, token: int, offered: tuple[int, ...], usual: int) -> None:
    options = list(offered) if token in offered else [token, *offered]
    shown = {option: opened.runner.token_text(option) for option in options}
    key = f"{name} {token}"  # see the second text's box

    def remember() -> None:
        chosen = st.session_state[key]
        written = str(chosen) if isinstance(chosen, int) else f"{TYPED}{chosen or ''}"
        session.choose(name, "" if chosen == usual or chosen is None else written, "")

    st.selectbox(
        label,
        options,
        options.index(token),
        key=key,
        format_func=lambda option: shown.get(option, str(option)),
        accept_new_options=True,
        on_change=remember,
        label_visibility="collapsed",
        width=130,
    )
