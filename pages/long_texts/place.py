"""The selection of the page Long texts: in the session's text, or in the chapter that it shows instead."""

from __future__ import annotations

from dataclasses import replace

from analysis.stories import told_query
from pages.long_texts.state import LongTextsState, state
from ui.shared.long_example import Shown, part_shown
from ui.shell.page import PageContext
from ui.state import session
from ui.state.page_state import change
from ui.state.selection import UrlWindow


def show_part(part: Shown) -> None:
    """Select a part of the chapter, or the session's own text, and reset the selection in the other."""
    change(LongTextsState, shown=part, query=-1, key=None, window=None)


def reads_own() -> bool:
    """Return True if the page reads the session's text."""
    return part_shown(state().shown) == "own"


def placed(opened: PageContext) -> PageContext:
    """The page with the selection in the chapter; unchanged for the session's text, whose selection it already has."""
    if reads_own():
        return opened
    held, n_tokens = state(), len(opened.capture.tokens)
    if held.query is None:
        return replace(opened, query=None, key=None)
    query = held.query if 0 <= held.query < n_tokens else told_query(opened.capture)
    return replace(opened, query=query, key=held.key if held.key is not None and held.key < n_tokens else None)


def pin(query: int | None, key: int | None) -> None:
    """Pin this cell of the text that the page reads."""
    if reads_own():
        session.move(query=query, key=key)
    else:
        change(LongTextsState, query=query, key=key)


def look_at(window: UrlWindow | None) -> None:
    """Set the visible part of the map; None: all of it."""
    if reads_own():
        session.move(window=window)
    else:
        change(LongTextsState, window=window)


def window_held() -> UrlWindow | None:
    """The chosen visible part of the map, or None."""
    return session.selection().window if reads_own() else state().window
