"""The card of the open step beside its page, with links to the next and previous steps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ui.classroom.lesson_step import ShowMap, StepInRoom
from ui.classroom.sidebar import ask_class
from ui.lessons.alone import SKIP, show_question, show_verdict, waits
from ui.lessons.state import Opened, lesson_after
from ui.lessons.way import close, show_way, shown
from ui.shell.frame import Entry
from ui.state import session
from ui.state.kept_click import button
from ui.state.run_context import run_context
from ui.wording.i18n import _

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from classroom.poll import ClassQuestion

N_ = str  # marks a text for Babel without translating it here

ASKED = {
    "next": N_("Which token comes next?"),
    "where": N_("Where does this token look?"),
    "ablate": N_("What does this head do?"),
}


def step_in_room(
    entries: Sequence[Entry],
    here: Entry,
    found: Opened | None,
    question_about: Callable[[str], tuple[ClassQuestion, ShowMap | None] | None],
) -> StepInRoom | None:
    """The open step, for a class."""
    if found is None:
        return None
    asks = bool(found.step.question) and shown(here, found.step)
    return StepInRoom(
        found.name,
        _words(found),
        lambda: _show(entries, here, found, lambda: _show_way_past(found)),
        functools.cache(lambda: question_about(found.step.question)) if asks else None,
    )


def beside_lesson(
    entries: Sequence[Entry],
    here: Entry,
    found: Opened | None,
    question_about: Callable[[str], tuple[ClassQuestion, ShowMap | None] | None],
    run: Callable[[], None],
) -> None:
    """Run the page, beside the card of the lesson step ``found`` if one is open.

    A single learner is asked first: ``question_about`` returns the question and what is drawn beside it, and the page
    waits for the answer.
    """
    if found is None:
        run()
        return
    run_context().lesson = _words(found)
    asked = None
    if session.room() is None and waits(found) and shown(here, found.step):
        asked = question_about(found.step.question)
    _show(entries, here, found, lambda: _show_question(found))
    place = st.empty()  # always sent, so that the page does not draw into a question's containers (frame.css)
    if asked is not None:
        with place.container():
            show_question(found, *asked)
        return
    run()


def _words(found: Opened) -> str:
    return f"{found.step.title}\n\n{found.step.plain_words}"


def _show(entries: Sequence[Entry], here: Entry, found: Opened, ask: Callable[[], None]) -> None:
    """Show the card; ``ask`` draws the step's question."""
    lesson, number, count = found.lesson, found.number, len(found.lesson.steps)
    with st.container(key="lesson"):
        with st.container(key="lesson_head", horizontal=True, vertical_alignment="center"):
            where = _("{lesson} · step {number} of {count}").format(lesson=lesson.title, number=number, count=count)
            st.html(f"<p class='atlas-caption'>{escape(where)}</p>", width="stretch")
            button(_("Close"), key="lesson_close", type="tertiary", on_click=close)
        with st.container(key="lesson_words"):
            st.html(f"<h2 lang='{escape(lesson.language)}'>{escape(found.step.title)}</h2>")
            st.markdown(found.step.words)
        if found.step.question:
            ask()
        with st.container(key="lesson_ways", horizontal=True, vertical_alignment="center", gap="small"):
            back, on = Opened(lesson, max(1, number - 1)), Opened(lesson, min(count, number + 1))
            show_way(_("Back"), "lesson_back", entries, here, back, disabled=number == 1)
            following = lesson_after(entries, lesson) if number == count else None
            if following is None:
                show_way(_("Next"), "lesson_next", entries, here, on, disabled=number == count)
            else:
                label = _("Next tour") if lesson.tour else _("Next lesson")
                show_way(label, "lesson_on", entries, here, Opened(following, 1))
            if not shown(here, found.step):
                show_way(_("To this step’s picture"), "lesson_again", entries, here, found)


def _show_question(found: Opened) -> None:
    """Show a single learner the verdict, or a teacher the button that asks the class again."""
    question, room = found.step.question, session.room()
    if room is None:
        show_verdict(found)
        return
    with _beside_question(question):
        button(_("Ask the class"), key="lesson_ask", on_click=ask_class, args=(question,))


def _show_way_past(found: Opened) -> None:
    """Show the button that skips the question while the class is asked."""
    room = session.room()
    if room is not None and room.poll is not None and room.poll.state == "open":
        with _beside_question(found.step.question):
            button(_(SKIP), key="lesson_skip", type="tertiary", on_click=room.leave_step, args=(found.name,))


@contextmanager
def _beside_question(question: str) -> Generator[None]:
    with st.container(key="lesson_question", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<p class='atlas-asked'>{_(ASKED[question])}</p>", width="content")
        yield
