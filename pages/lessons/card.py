"""The step that is open, beside the picture of its page, and the ways on and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from pages.lessons.state import Opened, opened
from pages.lessons.way import close, show_way, shown
from ui import session
from ui.frame import Entry
from ui.i18n import _

N_ = str  # marks a text for Babel without translating it here

TOLD = "lesson"  # in the session's slots: the words, for those who follow this page in a room
ASKED = {
    "next": N_("Which token comes next?"),
    "where": N_("Where does this token look?"),
    "ablate": N_("What does this head do?"),
}


def beside_lesson(entries: Sequence[Entry], here: Entry, ask: Callable[[str], None], run: Callable[[], None]) -> None:
    """Run the page beside the step that is open, if one is; ``ask`` puts a question to the class."""
    found = opened(entries)
    if found is not None:
        session.slots()[TOLD] = f"{found.step.title}\n\n{found.step.plain_words}"
        _show(entries, here, found, ask)
    run()


def _show(entries: Sequence[Entry], here: Entry, found: Opened, ask: Callable[[str], None]) -> None:
    lesson, number, count = found.lesson, found.number, len(found.lesson.steps)
    with st.container(key="lesson"):
        with st.container(key="lesson_head", horizontal=True, vertical_alignment="center"):
            where = _("{lesson} · step {number} of {count}").format(lesson=lesson.title, number=number, count=count)
            st.html(f"<p class='atlas-caption'>{escape(where)}</p>", width="stretch")
            st.button(_("Close"), key="lesson_close", type="tertiary", on_click=close)
        with st.container(key="lesson_words"):
            st.html(f"<h2 lang='{escape(lesson.language)}'>{escape(found.step.title)}</h2>")
            st.markdown(found.step.words)
        if found.step.question:
            _show_question(found.step.question, ask)
        with st.container(key="lesson_ways", horizontal=True, vertical_alignment="center", gap="small"):
            back, on = Opened(lesson, max(1, number - 1)), Opened(lesson, min(count, number + 1))
            show_way(_("Back"), "lesson_back", entries, here, back, disabled=number == 1)
            show_way(_("Next"), "lesson_next", entries, here, on, disabled=number == count)
            if not shown(here, found.step):
                show_way(_("To this step’s picture"), "lesson_again", entries, here, found)


def _show_question(question: str, ask: Callable[[str], None]) -> None:
    """As words for who learns alone; in a room it can be asked."""
    with st.container(key="lesson_question", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<p class='atlas-asked'>{_(ASKED[question])}</p>", width="content")
        if session.room() is not None:
            st.button(_("Ask the class"), key="lesson_ask", on_click=ask, args=(question,))
