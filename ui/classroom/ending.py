"""Ending a room: immediately if nothing is lost by it, otherwise after the teacher confirms."""

from __future__ import annotations

from html import escape

import streamlit as st

from classroom.results import HEADINGS, results_csv
from classroom.room import Room
from ui.state.kept_click import button
from ui.state.session_value import SessionValue
from ui.wording.i18n import _

ENDING = SessionValue("class_ending", bool)


def end_or_ask(room: Room) -> None:
    """End an empty room in which at most an open lesson asked something; otherwise ask for confirmation."""
    poll = room.poll
    if room.there or room.past or (poll is not None and (not poll.step or any(poll.votes))):
        ENDING.set(True)
    else:
        room.end()


def asked_to_end() -> bool:
    """Return True while the confirmation is open."""
    return ENDING.get()


def show_question(room: Room) -> None:
    """Show the confirmation: what ends and what is lost, with buttons to save the results, end the room or keep it."""
    words = _("End the room? {phones} here").format(phones=room.there)
    if count := room.unsaved:
        words += " · " + _("questions with answers that are not saved: {count}").format(count=count)
    with st.container(key="room_ending", gap="small"):
        st.html(f"<p class='atlas-caption' role='alert'>{escape(words)}</p>")
        with st.container(key="ending_actions", horizontal=True, gap="small"):
            show_results(room, "results_ending")
            button(_("End it"), key="end_it", type="primary", on_click=_end, args=(room,))
            button(_("Keep it"), key="keep_room", type="tertiary", on_click=keep)


def show_results(room: Room, key: str) -> None:
    """Show the download button for the answers so far."""
    if asked := room.asked:
        words = {name: _(text) for name, text in HEADINGS.items()}
        data = results_csv(asked, words)
        name = f"class-{room.code}.csv"
        counts = [poll.taken for poll in asked]
        st.download_button(_("Results as CSV"), data, name, "text/csv", key=key, on_click=room.save, args=(counts,))


def keep() -> None:
    """Keep the room open."""
    ENDING.set(False)


def _end(room: Room) -> None:
    keep()
    room.end()
