"""Selects one text of a capture that combines two."""

from __future__ import annotations

from dataclasses import replace

from analysis.joined import Joined
from ui.shell.page import PageContext


def one_text(opened: PageContext) -> PageContext:
    """The text whose stream is shown, with its own positions; of two combined texts, the target."""
    capture = opened.capture
    if not isinstance(capture, Joined) or capture.cross is None:
        return opened
    query = None if opened.query is None else opened.query - capture.n_read
    return replace(opened, capture=capture.cross, query=query, first=capture.n_read)


def chosen_text(opened: PageContext) -> PageContext:
    """Like :func:`one_text`, but of two combined texts the one selected last: the source if a key is set."""
    capture = opened.capture
    if isinstance(capture, Joined) and capture.cross is not None and opened.key is not None:
        return replace(opened, capture=capture.cross.attention("encoder"), query=opened.key)
    return one_text(opened)
