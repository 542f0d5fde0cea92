"""Run the page, or show the room's code or a question to the class instead of it.

Phones that follow the room get every component that the page mounts; the page's run begins and ends for them here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from html import escape

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from classroom.poll import Poll
from classroom.room import Room
from ui.classroom.lesson_step import StepInRoom
from ui.classroom.links import address_of_page, way_back
from ui.classroom.sidebar import ASKED, CODE, PROBLEM, WAITS, go_on
from ui.shell.frame import Entry
from ui.shell.models_offered import labelled
from ui.state import session, url_state
from ui.state.kept_click import button
from ui.state.run_context import run_context
from ui.state.session_value import SessionValue
from ui.wording.i18n import _
from viz.markdown import plain

RAN = SessionValue("page_ran", str)  # URL of the page that ran last
POLL, FIRST = "poll", "first"  # names shown when a question, or the offer to ask one first, replaces the page
LINK = "light-dark(#38388f, #9ea0f0)"  # Streamlit (1.67) gives the theme's link colour to links in Markdown only


def around(entry: Entry, run: Callable[[], None], step: StepInRoom | None = None) -> None:
    """Run the page, or show the class what it has to see instead. A lesson's ``step`` may ask its question first."""
    room, run = session.room(), partial(_run, entry, run)
    if room is None and WAITS.take():
        words = _("Looking for your class …")
        with st.container(key="class_looking"):
            st.html(f"<p class='atlas-caption' role='status'>{escape(words)}</p>")
            button(_("Show the page"), key="look_no_more", type="tertiary", on_click=go_on)
        return
    if room is None:
        _show_way_back()
        run()
        return
    from model_runner.errors import Cancelled  # the engine is imported only after the frame is painted
    from ui.classroom.panel import show_code, show_first
    from ui.classroom.questions import ask, askable

    if RAN.get() != entry.address:  # the previous page's start does not apply to this one
        run_context().plain_model = entry.plain
    if asked := ASKED.take():
        try:
            ask(room, *asked)
        except Cancelled:  # the run that follows asks again
            ASKED.set(asked)
            raise
    if problem := PROBLEM.take():
        st.warning(plain(_(problem)))
    if room.poll is not None and room.poll.step and (step is None or room.poll.step != step.name):
        room.leave_step()
    place = entry.address, session.model(), session.text()
    name = _name_of(place)
    look = *place, *map(url_state.written, url_state.LESSON)
    if CODE.get() in (True, look):
        CODE.set(look)
        url_state.write()
        show_code(room)
        return
    CODE.set(False)  # whoever has just opened a page, model, text or lesson wants to see it
    if room.poll is None and step is not None and step.asks(room):
        step.ask(room)
    if room.poll is not None:
        _show_poll(room, room.poll, entry, name, step)
    elif room.asks_first and name not in room.shown and not (step and step.was_shown(room)) and askable():
        url_state.write()
        shown = {"title": _(entry.title), "subtitle": _(entry.subtitle), "page": FIRST}
        _followed(room, shown, entry, lambda: show_first(lambda: room.show(name)))
    else:
        room.show(name)
        shown = {"title": _(entry.title), "subtitle": _(entry.subtitle), "page": entry.address}
        _followed(room, shown, entry, run)


def _show_poll(room: Room, poll: Poll, entry: Entry, name: str, step: StepInRoom | None) -> None:
    from ui.classroom.panel import show_poll  # the engine is imported only after the frame is painted

    if poll.state == "revealed" and poll.question.text == session.text():
        room.show(name)  # a question dropped before the reveal leaves the page unshown
    url_state.write()
    shown = {"title": poll.question.words, "subtitle": "", "page": POLL}
    beside = step if poll.step else None
    covered = beside.show_map() if beside and poll.state == "open" else None  # computed before a phone follows
    _followed(room, shown, entry, lambda: show_poll(room, beside, covered))


def _name_of(place: tuple[str, ...]) -> str:
    """The name by which a room knows a page with its model and text; the text itself is not kept."""
    return hashlib.sha256("\0".join(place).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _run(entry: Entry, run: Callable[[], None]) -> None:
    RAN.set(entry.address)
    run()


def _followed(room: Room, shown: dict[str, str], entry: Entry, run: Callable[[], None]) -> None:
    """Run the page for its followers. A page that stops with an error sentence has also ended for the class."""
    room.board.turn(shown)
    room.wake()  # tell the phones that another page is coming before it has drawn anything
    with suppress(StopException):
        run()
    of_text = run_context().of_text
    caption = _model_name() if of_text else ""  # each figure's own name says what of the model it shows
    asking = shown["page"] == FIRST or (room.poll is not None and room.poll.state == "open")
    link = "" if asking else address_of_page(entry.address, room.code)  # the page may show the answer
    asked = room.poll.question if shown["page"] == POLL and room.poll else None
    text = asked.text if asked else session.text() if of_text else ""
    changed = asked.changed if asked else _changes() if shown["page"] == entry.address else ""
    more = {"words": run_context().lesson, "changed": changed}
    room.board.settle(text=text, caption=caption, address=link, **more)
    room.wake()


def _changes() -> str:
    """The edits that change the model, on this page or on every page, in one line."""
    from ui.classroom.changes import in_words  # the engine is imported only after the frame is painted
    from ui.state import edit_list

    run = run_context()
    carried = edit_list.held() if session.edits_on_all_pages() and not run.plain_model else ()
    return in_words(carried if run.edits is None else run.edits)


def _model_name() -> str:
    model = session.model()
    return "" if model == url_state.DEFAULT_MODEL else labelled([model], _)[model]


def _show_way_back() -> None:
    back = way_back()
    if back is not None:
        words = _("Back to the class")
        link = f"<a href='{escape(back)}' target='_self' style='color: {LINK}'>← {words}</a>"
        st.html(f"<p class='atlas-caption atlas-back'>{link}</p>")
