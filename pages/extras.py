"""What accompanies every page, in the sidebar and around the page: lessons, a class, the sound of an audio model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.entries import ENTRIES
from ui.classroom.around import around
from ui.classroom.lesson_step import ShowMap
from ui.classroom.sidebar import PROBLEM, may_have_one, show_room
from ui.lessons.card import beside_lesson, step_in_room
from ui.lessons.record import show_record
from ui.lessons.sidebar import show_lessons
from ui.lessons.state import opened
from ui.lessons.way import translated
from ui.shell.frame import Entry, PageExtras, show_glossary
from ui.shell.sound_box import show_sound
from ui.state import session

if TYPE_CHECKING:
    from classroom.poll import ClassQuestion


def extras_of(page: str, may_teach: Callable[[], bool]) -> PageExtras:
    """Return what accompanies the page at this URL; ``may_teach``: whether the reader may open a room."""
    here = next(entry for entry in ENTRIES if entry.address == page)
    return PageExtras(
        beside=lambda: _show_guests(here, may_teach()),
        around=_run_page,
        sound=show_sound,
        translate=partial(translated, ENTRIES, here),
        covers=lambda: session.room() is not None or may_have_one(),
    )


def _show_guests(here: Entry, may_teach: bool) -> None:
    """Show lessons, the glossary and, for those who may teach, a room in the page's sidebar."""
    with st.container(key="guests", horizontal=True, gap="small"):
        show_lessons(ENTRIES, here)
        show_glossary()
        if may_teach:
            show_room()
        if session.room() is not None:
            show_record(ENTRIES, here)


def _run_page(here: Entry, run: Callable[[], None]) -> None:
    """Run the page beside its lesson, for those who follow in a room."""
    found, about = opened(ENTRIES), partial(_question_about, here)
    step = step_in_room(ENTRIES, here, found, about)
    around(here, partial(beside_lesson, ENTRIES, here, found, about, run), step)


def _question_about(here: Entry, kind: str) -> tuple[ClassQuestion, ShowMap | None] | None:
    """Return a lesson step's question and the map beside it; None if it cannot be asked."""
    from ui.classroom.questions import looked_at, question_about  # the engine is imported after the frame is painted
    from ui.lessons.asked_map import show_asked_map, shows_map
    from ui.shell.model_strip import StripView, show_model_strip

    question = question_about(kind)
    opened = looked_at() if question is not None else None
    PROBLEM.take()  # the page is shown then, without a message
    if question is None or opened is None:
        return None
    show_model_strip(opened.runner.info, opened.capture, (opened.layer, opened.head), StripView(), opened.runner)
    return question, partial(show_asked_map, opened, kind) if shows_map(here.address, kind) else None
