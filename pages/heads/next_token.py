"""The model's prediction, beside the picture of its attention."""

from __future__ import annotations

from analysis.comparison import output_position
from analysis.joined import first_query
from analysis.next_token import end_of_text, next_tokens
from model_runner import Token
from ui.shared import cached
from ui.shared.class_scores import show_classes
from ui.shared.what_if import output_name
from ui.shell.components import show_html
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from viz.distribution import TEXTS, next_token_bars


def show_next(opened: PageContext) -> None:
    """Show the next token, an encoder's token at the pinned position, or the classes."""
    if show_classes(opened) is not None:
        return
    place = output_position(opened.capture, opened.query)
    position = len(opened.capture.tokens) - 1 if place is None else place
    found = next_tokens(opened.capture, position, count=5)
    end = end_of_text(cached.chips(opened.capture), position + 1, first=first_query(opened.capture))
    show_html(
        next_token_bars(
            [opened.runner.token_text(token) for token in found.ids],
            list(found.probabilities),
            rest=found.rest,
            heading=output_name(place),
            beside="" if place is None else _hidden(opened.capture.tokens[place]),
            follows=end if place is None else ("", True),
            texts=translated(TEXTS),
        ),
        key="next_token",
    )


def _hidden(token: Token) -> str:
    """Say that the token at the pinned position is masked."""
    return _("in place of {token}").format(token=token.text) if token.hidden else ""
