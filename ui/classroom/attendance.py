"""Who is in the room, for its teacher: an expandable list of phones and their answers, with a button to remove one."""

from __future__ import annotations

from html import escape

import streamlit as st

from classroom.room import Phone, Room
from ui.state.kept_click import button
from ui.state.session_value import SessionValue
from ui.wording.i18n import _

EACH = 2.0  # seconds between refreshes while the list is open
MOST = 120  # phones listed at most
REMOVING = SessionValue("class_removing", str)  # the phone whose removal awaits confirmation


def show_attendance(room: Room) -> None:
    """Show the expandable list."""
    with st.container(key="attendance_menu", width="content"):
        menu = st.popover(_("Who is here"), type="tertiary", on_change="rerun", key="attendance")
    if menu.open:
        with menu:
            _show_list(room)
    else:
        REMOVING.set("")


@st.fragment(run_every=EACH)
def _show_list(room: Room) -> None:
    phones = room.phones()
    here, asked = sum(phone.here for phone in phones), room.poll is not None and room.poll.state == "open"
    words = [_("{count} here").format(count=here), _("{count} away").format(count=len(phones) - here)]
    words += [_("{count} answered").format(count=sum(phone.answered for phone in phones))] if asked else []
    st.html(f"<p class='atlas-caption' role='status'>{escape(' · '.join(words))}</p>")
    with st.container(key="attendance_list", gap=None):
        for phone in phones[:MOST]:
            _show_phone(room, phone, asked=asked)
    if len(phones) > MOST:
        more = _("and {count} more").format(count=len(phones) - MOST)
        st.html(f"<p class='atlas-caption'>{escape(more)}</p>")


def _show_phone(room: Room, phone: Phone, *, asked: bool) -> None:
    name = phone.name or _("Phone {number}").format(number=phone.number)
    states = [_("answered") if phone.answered else _("not answered yet")] if asked else []
    states += [] if phone.here else [_("away")]
    with st.container(key=f"phone_{phone.number}", horizontal=True, vertical_alignment="center", gap="small"):
        kind = "here" if phone.here else "away"
        words = f"<b><bdi>{escape(name)}</bdi></b> <span>{escape(' · '.join(states))}</span>"
        st.html(f"<p class='atlas-phone {kind}'>{words}</p>", width="stretch")
        if REMOVING.get() != phone.who:
            key = f"remove_{phone.number}"
            button(_("Remove"), key=key, type="tertiary", on_click=REMOVING.set, args=(phone.who,))
            return
        button(_("Remove it"), key=f"removed_{phone.number}", on_click=_remove, args=(room, phone.who))
        button(_("Keep it"), key=f"stays_{phone.number}", type="tertiary", on_click=REMOVING.set, args=("",))
    words = _("It leaves the room with its answer and cannot come back. To keep out new phones too, lock the room.")
    st.html(f"<p class='atlas-caption' role='alert'>{escape(words)}</p>")


def _remove(room: Room, who: str) -> None:
    """Callback that removes a phone."""
    REMOVING.set("")
    room.remove(who)
