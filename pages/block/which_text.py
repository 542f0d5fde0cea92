"""Which of two texts that are drawn as one the page is about."""

from __future__ import annotations

from dataclasses import replace

from analysis.joined import Joined
from ui.shell.page import PageContext


def one_text(opened: PageContext) -> PageContext:
    """The text whose stream is looked at, with its own positions: of two that are drawn as one, what is written."""
    capture = opened.capture
    if not isinstance(capture, Joined) or capture.cross is None:
        return opened
    query = None if opened.query is None else opened.query - capture.n_read
    return replace(opened, capture=capture.cross, query=query, first=capture.n_read)


def chosen_text(opened: PageContext) -> PageContext:
    """The same, but of two that are drawn as one the text whose token was chosen last: with a key, what is read."""
    capture = opened.capture
    if isinstance(capture, Joined) and capture.cross is not None and opened.key is not None:
        return replace(opened, capture=capture.cross.attention("encoder"), query=opened.key)
    return one_text(opened)
