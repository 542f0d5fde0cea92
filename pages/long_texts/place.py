"""Where the page Long texts looks: in the session's text, or in the chapter that it shows in its place."""

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
    """This part of the chapter, or the session's own text; a place in another one means nothing in it."""
    change(LongTextsState, shown=part, query=-1, key=None, window=None)


def reads_own() -> bool:
    """Whether the page reads the session's text, not the chapter."""
    return part_shown(state().shown) == "own"


def placed(opened: PageContext) -> PageContext:
    """The page in the chapter, with the token that is pinned in it; in the session's text it is pinned already."""
    if reads_own():
        return opened
    held, n_tokens = state(), len(opened.capture.tokens)
    if held.query is None:
        return replace(opened, query=None, key=None)
    query = held.query if 0 <= held.query < n_tokens else told_query(opened.capture)
    return replace(opened, query=query, key=held.key if held.key is not None and held.key < n_tokens else None)


def pin(query: int | None, key: int | None) -> None:
    """This cell of the text that the page reads."""
    if reads_own():
        session.move(query=query, key=key)
    else:
        change(LongTextsState, query=query, key=key)


def look_at(window: UrlWindow | None) -> None:
    """This part of the map; None: all of it."""
    if reads_own():
        session.move(window=window)
    else:
        change(LongTextsState, window=window)


def window_held() -> UrlWindow | None:
    """The part of the map in view, as far as one was chosen."""
    return session.selection().window if reads_own() else state().window
