"""What the model makes of the text: its next token, beside a picture of where it looked."""

from __future__ import annotations

import streamlit as st

from analysis.next_token import next_tokens
from ui.i18n import _
from ui.page import Opened, translated
from viz.distribution import TEXTS, next_token_bars


def show_next(opened: Opened) -> None:
    """What the model makes of it: the next token, or, in an encoder, the token at the pinned place."""
    both_ways = bool(
        opened.capture.record(opened.layer).mask.tile(slice(0, 1), slice(0, 2), opened.capture.q(opened.layer).device)[
            0, -1
        ]
    )
    position = (opened.query or 0) if both_ways else len(opened.capture.tokens) - 1
    found = next_tokens(opened.capture, position, count=5)
    end = "".join(token.text for token in opened.capture.tokens[-3:]).replace("·", " ").strip()
    st.html(
        next_token_bars(
            [opened.runner.token_text(token) for token in found.ids],
            list(found.probabilities),
            rest=found.rest,
            heading=_("Token at {position}").format(position=position) if both_ways else _("Next token"),
            after="" if both_ways else _("after “… {text}”").format(text=end),
            texts=translated(TEXTS),
        )
    )
