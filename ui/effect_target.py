"""The token whose heads are looked for: the model's likeliest, or chosen from a list, or typed."""

from __future__ import annotations

from html import escape

import streamlit as st

from analysis.next_token import next_tokens
from model_runner.errors import NoSuchPlace, RunnerError
from ui import session
from ui.i18n import _
from ui.inputs import holding
from ui.page import Opened
from ui.typed_token import typed_token
from ui.wording import number, plain, sentence

N_ = str  # marks a text for Babel without translating it here

NAME = "effect_token"  # of the choice: a token's id, or what was typed after a '
TYPED = "'"
OFFERED = 12


def ask_target(opened: Opened) -> int:
    """The list of the likeliest tokens, into which any other can be typed; what is none is said and replaced.

    Raises NoLogits.
    """
    likely = next_tokens(opened.capture, count=OFFERED)
    token = _chosen(opened, likely.ids[0])
    shares = dict(zip(likely.ids, likely.probabilities, strict=True))
    options = list(shares) if token in shares else [token, *shares]
    # Made here: Streamlit may call format_func outside a run, where there is no language.
    shown = {option: _with_share(opened.runner.token_text(option), shares.get(option)) for option in options}
    label = _("for the token")
    st.html(f"<span class='atlas-caption'>{escape(label)}</span>", width="content")

    def remember() -> None:
        chosen = st.session_state[NAME]
        written = str(chosen) if isinstance(chosen, int) else f"{TYPED}{chosen or ''}"
        session.choose(NAME, "" if chosen is None or chosen == likely.ids[0] else written, "")

    st.selectbox(
        _("Target token"),
        options,
        options.index(token),
        key=holding(NAME, token),
        format_func=lambda option: shown.get(option, str(option)),
        accept_new_options=True,
        on_change=remember,
        label_visibility="collapsed",
        width=170,
    )
    return token


def _with_share(text: str, share: float | None) -> str:
    return text if share is None else f"{text}  {number(share, 'share')}"


def _chosen(opened: Opened, usual: int) -> int:
    """The id of the address; what is none is said, until another is chosen, and the likeliest is taken instead."""
    written = session.written(NAME)
    if not written:
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
    session.choose(NAME, "" if token == usual else str(token), "")
    return token
