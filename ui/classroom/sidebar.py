"""The teacher's room in the sidebar of every page: its code, the number of students and the questions."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from classroom.desk import DESK
from classroom.frames import Refused
from classroom.room import Room
from ui.classroom import ending
from ui.classroom.attendance import show_attendance
from ui.shell.components import mount
from ui.state import session, url_state
from ui.state.kept_click import button
from ui.state.session_value import SessionValue
from ui.wording.i18n import _
from viz.components.room_link import room_link
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

ASKED = SessionValue[tuple[str, ...]]("class_asked", tuple)  # a question to ask the class in the next run
ASKINGS = SessionValue("class_askings", int)  # number of questions asked so far
CODE = SessionValue[bool | tuple[object, ...]](
    "code_shown", bool
)  # the selection for which the code is shown; True: any
PROBLEM = SessionValue("class_problem", str)
OVER = SessionValue("class_over", bool)  # a room was opened; if there is none now, it has ended
LOOKED = SessionValue("class_looked", bool)  # the tab has reported whether it has a room
WAITS = SessionValue("class_waits", bool)  # still waiting for that report
AGAIN = N_("The server was restarted. Your room is open under its code as before; earlier answers are gone.")
QUESTIONS = {
    "next": N_("Which token comes next?"),
    "where": N_("Where does this token look?"),
    "ablate": N_("What does this head do?"),
}


def show_room() -> None:
    """Show the button that opens a room, or the open room."""
    room = session.room()
    if room is None:
        waits = may_have_one()
        WAITS.set(waits)
        with st.container(key="room_closed", width="content"):
            button(_("Open a room"), key="open_room", type="tertiary", on_click=_open)
            _link(over=OVER.get(), asks=waits)
        if problem := PROBLEM.take():
            st.warning(plain(_(problem)))
        return
    with st.container(key="room_box", gap="small"):
        with st.container(key="room_head", horizontal=True, vertical_alignment="center", gap="small"):
            st.html(f"<b class='atlas-code'>{escape(room.code)}</b>", width="content")
            _link(code=room.code, key=room.key)
        if ending.asked_to_end():
            ending.show_question(room)
        else:
            _show_actions(room)
        for words in (AGAIN if room.again else "", DESK.problem):
            if words:
                st.html(f"<p class='atlas-caption'>{escape(_(words))}</p>")


def _show_actions(room: Room) -> None:
    with st.container(key="room_actions", horizontal=True, gap="small"):
        button(_("Show the code"), key="show_code", type="tertiary", on_click=show_code, args=(True,))
        # a new key makes a new, closed expander: Streamlit (1.67) cannot close one
        opening, asked = st.container(key="ask_class", width="content"), ASKINGS.get()
        with opening, st.popover(_("Ask the class"), type="tertiary", key=f"ask_class_{asked}"):
            _questions(room)
        show_attendance(room)
        st.toggle(
            _("Lock the room"),
            value=room.locked,
            key="lock_room",
            help=_("Phones that are or were in the room stay; nobody else can join."),
            on_change=_lock,
            args=(room,),
        )
        button(_("End the room"), key="end_room", type="tertiary", on_click=ending.end_or_ask, args=(room,))


def _lock(room: Room) -> None:
    room.locked = bool(st.session_state["lock_room"])


def _link(code: str = "", key: str = "", *, over: bool = False, asks: bool = False) -> None:
    words = {name: _(text) for name, text in room_link.TEXTS.items()}
    talk = f"{url_state.base()}/classroom/talk"
    payload = room_link.RoomLinkPicture(
        talk=talk, born=DESK.born, texts=words, code=code, key=key, over=over, asks=asks
    ).packed()
    mount(room_link.SOURCE, payload, key="room_link", on={"back": _back}, followed=False)


def _questions(room: Room) -> None:
    from attention.metrics import METRICS  # already imported: the page ran before the room was opened

    for kind, words in QUESTIONS.items():
        button(_(words), key=f"ask_{kind}", on_click=ask_class, args=(kind,), width="stretch")
    labels = {metric.name: _(metric.label) for metric in METRICS}
    metric = st.selectbox(_("metric"), labels, format_func=labels.__getitem__, key="ask_metric")
    button(_("Which head has most of it?"), key="ask_head", on_click=ask_class, args=("head", metric), width="stretch")
    hint = _("A number: on the page Step by step, choose “What comes here?” and click a covered one.")
    st.html(f"<p class='atlas-caption'>{escape(hint)}</p>")
    # Read what the toggles show: after a server restart the browser keeps them as set, and the room has defaults.
    room.names = st.toggle(_("ask for names"), room.names, key="ask_names")
    words = _(
        "Each page, model and text that you open stays hidden, here and on the phones, until you "
        "ask about it or show it."
    )
    room.asks_first = st.toggle(_("ask first, then show"), room.asks_first, key="ask_first", help=plain(words))
    ending.show_results(room, "results_beside")


def may_have_one() -> bool:
    """Return True until the tab reports whether it has a room; a page shown before that could reveal an answer."""
    return st.context.cookies.get(room_link.TEACHES) == "1" and not LOOKED.get()


def go_on() -> None:
    """Stop waiting for the tab."""
    LOOKED.set(True)


def show_code(shown: bool) -> None:
    """Show or hide the large code that replaces the page."""
    CODE.set(shown)


def _open() -> None:
    try:
        _teach(DESK.open())
        show_code(True)
    except Refused as error:
        PROBLEM.set(str(error))


def _teach(room: Room) -> None:
    session.teach(room)
    ending.keep()
    OVER.set(True)


def _back(key: Any) -> None:
    """Restore the tab's room after a page reload or a server restart. ``key`` is empty if the tab has no room."""
    go_on()
    if session.room() is not None or not isinstance(key, str) or not key:
        return
    try:
        _teach(DESK.back(key))
    except Refused as error:
        PROBLEM.set(str(error))
        OVER.set(True)


def ask_class(*asked: str) -> None:
    """Ask the class this question in the next run."""
    ASKED.set(asked)
    ASKINGS.set(ASKINGS.get() + 1)  # the sidebar may be drawn before the question is asked
    show_code(False)
