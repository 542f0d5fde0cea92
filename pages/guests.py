"""What stands in the sidebar and around every page beside the page itself: lessons, a class, a sound to listen to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.classroom.around import around
from pages.classroom.sidebar import ask_class, show_room
from pages.entries import ENTRIES
from pages.lessons.card import beside_lesson
from pages.lessons.sidebar import show_lessons
from pages.listening.box import show_sound as show_sound
from ui.frame import Entry


def show_guests(page: str, may_teach: bool) -> None:
    """In the sidebar of the page at this address: the lessons, and a room for who may teach."""
    here = next(entry for entry in ENTRIES if entry.address == page)
    with st.container(key="guests", horizontal=True, gap="small"):
        show_lessons(ENTRIES, here)
        if may_teach:
            show_room()


def run_page(here: Entry, run: Callable[[], None]) -> None:
    """The page, its lesson beside it, followed by those in a room."""
    around(here, partial(beside_lesson, ENTRIES, here, ask_class, run))
