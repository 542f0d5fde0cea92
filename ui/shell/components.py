"""Mounting of our canvas and SVG components; what they send becomes a call with its value.

A component sends of itself, too: a film that came to rest, say. While its reader is on the way to another page, the
browser still names the old one with it (Streamlit 1.67), which would bring that page back: the reader is taken on.
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

Handlers = dict[str, Callable[[Any], None]]  # by what a component can send: what to do with it; JSON of a browser

_SHOWN, _LEFT = "page_shown", "page_left"


def show_page(page: Path) -> None:
    """The page of this run, by its file, before anything of it is mounted; one that was left goes on to the next."""
    if st.session_state.get(_LEFT) == page:
        _go_on()
    st.session_state.pop(_LEFT, None)
    st.session_state[_SHOWN] = page


def leave_for(page: Path) -> None:
    """In a callback, which nothing interrupts: the run that follows goes to another page, by its file."""
    st.session_state[_LEFT], st.session_state[_SHOWN] = st.session_state[_SHOWN], page


def _go_on() -> None:
    """To the page last asked for, with all that the session looks at."""
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
    """Show a component; ``on`` names what it can send and what to do with the value, before the page runs again.

    ``followed``: those who follow this page in a room see it too; ``adds``: to what it had before.
    """

    def hear() -> None:
        told = (st.session_state.get(key) or {}).get("told")  # nothing of a component that is on its way out
        asked: RerunException | None = None  # what one of them asks to run first waits for all that was told with it
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
    hear()  # what was told to a server that was started again, before it had drawn this: it knew of nobody who hears
    if st.session_state.get(f"{key} heard") != heard:
        st.rerun()


def sent_arrays() -> SentArrays:
    """What this session's browser was sent."""
    return session.jobs().get("sent_arrays", None, lambda _name: SentArrays(url_state.base()))


def show_heading(name: str, beside: str = "", *, width: Literal["stretch", "content"] = "stretch") -> None:
    """The name of the figure that is shown next, with words beside it, both HTML."""
    inner = f"{name and f'<b>{name}</b> '}{beside and f'<span>{beside}</span>'}"
    st.html(f"<div class='atlas-head'>{inner}</div>", width=width)
    name_figure(name, beside)


def name_figure(name: str, beside: str = "") -> None:
    """The same where something else on the page says it: for those who follow it."""
    run_context().figure = name, beside


def to_class(source: Source, payload: bytes, *, key: str, title: str = "", adds: bool = False) -> None:
    """Those who follow this page in a room see this component, as it was named just before, or under ``title``."""
    run = run_context()
    named, found = run.figure, plain_text(run.finding)
    run.figure, run.finding = None, ""
    if (room := session.room()) is not None:
        name, beside = map(plain_text, named) if named else (title, "")
        beside = " · ".join(filter(None, (beside, found)))
        room.board.figure(key, source, payload, title=name, beside=beside, adds=adds)
        room.wake()


def show_html(html: str, *, key: str) -> None:
    """A figure that is HTML, which the app made; those who follow this page in a room see its elements too."""
    st.html(html)
    if session.room() is not None:  # else it is not read at all
        to_class(still.SOURCE, still.still_picture(html).packed(), key=key)


def _unheard(key: str, told: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a component tells now and what it told before that never came here; it repeats both, see outbox.js."""
    by, last = st.session_state.get(f"{key} heard", ("", 0))
    for event in told["events"]:
        if told["by"] != by or event["number"] > last:
            st.session_state[f"{key} heard"] = told["by"], event["number"]
            yield event["name"], event["value"]


def _went_on() -> bool:
    """Whether this run was asked for by a page that its reader left; then the one that he went to is shown again."""
    context = get_script_run_ctx(suppress_warning=True)
    asked = context and context.pages_manager.get_pages().get(context.page_script_hash)
    if not asked or Path(asked["script_path"]) == st.session_state.get(_SHOWN):
        return False
    st.session_state[_LEFT] = Path(asked["script_path"])
    _go_on()
    return True
