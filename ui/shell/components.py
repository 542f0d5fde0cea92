"""Mounting of our canvas and SVG components; each event that a component sends becomes a call with its value.

Components also send events without user input, for example when a film stops. Such an event may arrive while the reader
is navigating to another page; Streamlit (1.67) would then return to the old page, so the session is sent on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.components.v2 import component as register
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx

from ui.shell.sent_arrays import SentArrays
from ui.state import session, url_state
from ui.state.run_context import run_context
from viz.components.served import loader
from viz.components.source import Source
from viz.components.still import still
from viz.token_text import plain_text

Handlers = dict[str, Callable[[Any], None]]  # event name → its handler; the values are JSON from a browser

_SHOWN, _LEFT = "page_shown", "page_left"


def show_page(page: Path) -> None:
    """Record the script file of this run's page before mounting anything. If the reader has left it, switch to the next
    page.
    """
    if st.session_state.get(_LEFT) == page:
        _go_on()
    st.session_state.pop(_LEFT, None)
    st.session_state[_SHOWN] = page


def leave_for(page: Path) -> None:
    """In a callback, which runs to its end: make the next run go to another page, given by its script file."""
    st.session_state[_LEFT], st.session_state[_SHOWN] = st.session_state[_SHOWN], page


def _go_on() -> None:
    """Switch to the page requested last, keeping the session's selection."""
    st.switch_page(st.session_state[_SHOWN], query_params=url_state.parts())


def mount(
    source: Source,
    payload: bytes,
    *,
    key: str,
    on: Handlers,
    narrow: bool = False,
    followed: bool = True,
    adds: bool = False,
) -> None:
    """Show a component; ``on`` maps event names to handlers, which are called before the page runs again.

    ``followed``: phones that follow this page show it too. ``adds``: they append the payload to the previous one.
    """

    def hear() -> None:
        told = (st.session_state.get(key) or {}).get("told")  # None for a component that is being removed
        asked: RerunException | None = None  # a rerun requested by one handler waits until all events are handled
        for name, value in _unheard(key, told) if told and not _went_on() else ():
            try:
                on[name](value)
            except RerunException as error:
                asked = error
        if asked is not None:
            raise asked

    if followed:
        to_class(source, payload, key=key, adds=adds)
    component = register(source.name, html=source.html, js=loader(source, url_state.base()))
    component(key=key, data=sent_arrays().lean(payload), width="content" if narrow else "stretch", on_told_change=hear)
    heard = st.session_state.get(f"{key} heard")
    hear()  # events sent after a server restart, before this was drawn, when no handler was known
    if st.session_state.get(f"{key} heard") != heard:
        st.rerun()


def sent_arrays() -> SentArrays:
    """Track which arrays this session's browser already has."""
    return session.jobs().get("sent_arrays", None, lambda _name: SentArrays(url_state.base()))


def show_heading(name: str, beside: str = "", *, width: Literal["stretch", "content"] = "stretch") -> None:
    """Show the name of the next figure, followed by ``beside`` in a lighter style; both are HTML."""
    inner = f"{name and f'<b>{name}</b> '}{beside and f'<span>{beside}</span>'}"
    st.html(f"<div class='atlas-head'>{inner}</div>", width=width)
    name_figure(name, beside)


def name_figure(name: str, beside: str = "") -> None:
    """Name the next figure for phones that follow the page, when the page itself shows the name elsewhere."""
    run_context().figure = name, beside


def to_class(source: Source, payload: bytes, *, key: str, title: str = "", adds: bool = False) -> None:
    """Show this component on the phones that follow the page, under the name given last or ``title``."""
    run = run_context()
    named, found = run.figure, plain_text(run.finding)
    run.figure, run.finding = None, ""
    if (room := session.room()) is not None:
        name, beside = map(plain_text, named) if named else (title, "")
        beside = " · ".join(filter(None, (beside, found)))
        room.board.figure(key, source, payload, title=name, beside=beside, adds=adds)
        room.wake()


def show_html(html: str, *, key: str) -> None:
    """Show a figure as HTML made by the app; phones that follow the page show it too."""
    st.html(html)
    if session.room() is not None:  # without a room, skip parsing the HTML
        to_class(still.SOURCE, still.still_picture(html).packed(), key=key)


def _unheard(key: str, told: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the events not handled yet. A component repeats earlier events that may have been lost, see outbox.js."""
    by, last = st.session_state.get(f"{key} heard", ("", 0))
    for event in told["events"]:
        if told["by"] != by or event["number"] > last:
            st.session_state[f"{key} heard"] = told["by"], event["number"]
            yield event["name"], event["value"]


def _went_on() -> bool:
    """Return to the current page, and return True, if a page that the reader has left requested this run."""
    context = get_script_run_ctx(suppress_warning=True)
    asked = context and context.pages_manager.get_pages().get(context.page_script_hash)
    if not asked or Path(asked["script_path"]) == st.session_state.get(_SHOWN):
        return False
    st.session_state[_LEFT] = Path(asked["script_path"])
    _go_on()
    return True
