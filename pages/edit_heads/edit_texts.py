"""The greedy continuation before and after the edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import streamlit as st

from analysis.kv_drop import first_difference
from model_runner import GenerateRequest, RunnerError, Token
from model_runner.edits import Edit
from ui.shared.continuations import Continuations
from ui.shell.components import show_html
from ui.shell.page import PageContext
from ui.state import session
from ui.wording.equal_words import equal_up_to
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.continuations import TextEnding, continuations

CONTINUED = 12  # tokens


@dataclass(frozen=True)
class Texts:
    """Both continuations, and the index of the first difference (None: equal)."""

    before: tuple[Token, ...]
    after: tuple[Token, ...]
    differs_at: int | None


def show_texts(opened: PageContext, edits: tuple[Edit, ...]) -> Texts | None:
    """Show the two lanes; None, with a sentence, if there is no continuation."""
    plain_request = _request(opened, ())
    known: Continuations = session.jobs().get("edit_texts", plain_request, Continuations)
    status = st.empty()
    say: Callable[[], object] = lambda: status.caption(_("Generating …"))  # noqa: E731  # one line of two uses
    try:
        before = known.get(opened.runner, plain_request, say)
        after = known.get(opened.runner, _request(opened, edits), say)
    except RunnerError as error:
        status.empty()
        words = _("Greedy continuation")
        st.html(
            f"<div class='atlas-head'><b>{escape(words)}</b></div>"
            f"<p class='atlas-caption'>{escape(sentence(error))}</p>"
        )
        return None
    status.empty()
    differs = first_difference([token.id for token in before], [token.id for token in after])
    beside = equal_up_to(differs, len(before), _)
    ways = [
        TextEnding(_("before"), "", [token.text for token in before]),
        TextEnding(_("after"), "", [token.text for token in after]),
    ]
    heading = _("Greedy continuation")
    show_html(continuations(ways, differs_at=differs, heading=heading, beside=beside), key="edit_texts")
    return Texts(before, after, differs)


def _request(opened: PageContext, edits: tuple[Edit, ...]) -> GenerateRequest:
    """A request for the greedy continuation of the text with these edits."""
    return opened.capture.request.going_on(max_new_tokens=CONTINUED, edits=edits, attention=None)
