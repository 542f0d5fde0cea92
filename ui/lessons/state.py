"""Which lesson and step are open, held in the URL of every page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hosting.listed import lessons_folder
from lessons.shelf import HERE, LeftOut, Lesson, lessons
from lessons.step import LessonStep
from ui.shell.frame import Entry
from ui.state.page_state import current, keep, refuse, setting
from ui.wording.i18n import _, language

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class LessonState:
    """``lesson`` is a lesson's name, or empty for none; ``step`` counts from 1."""

    SCOPE: ClassVar[str] = ""

    lesson: str = setting("", N_("lesson"), max_length=80)
    step: int = setting(1, N_("step"), min=1, max=10**6)


@dataclass(frozen=True)
class Opened:
    """A lesson and the number of its open step, counted from 1."""

    lesson: Lesson
    number: int

    @property
    def step(self) -> LessonStep:
        return self.lesson.steps[self.number - 1]

    @property
    def name(self) -> str:
        """The name by which a room knows the step, the same in every language."""
        return f"{self.lesson.name}/{self.number}"

    @property
    def parts(self) -> dict[str, str]:
        """The URL parameters of the open step."""
        return {"lesson": self.lesson.name} | ({"step": str(self.number)} if self.number > 1 else {})


def shelf(entries: Sequence[Entry]) -> tuple[tuple[Lesson, ...], tuple[LeftOut, ...]]:
    """Return the lessons for this reader, the host's own first, and those that were left out."""
    own = lessons_folder()
    return lessons([HERE] if own is None else [own, HERE], language(), pages_of(entries))


def lesson_after(entries: Sequence[Entry], lesson: Lesson) -> Lesson | None:
    """The next lesson on the shelf in the same language (after a tour, the next tour), or None."""
    named = [one for one in shelf(entries)[0] if (one.language, one.tour) == (lesson.language, lesson.tour)]
    places = [place for place, one in enumerate(named) if one.name == lesson.name]
    return named[places[0] + 1] if places and places[0] + 1 < len(named) else None


def pages_of(entries: Sequence[Entry]) -> frozenset[str]:
    """The page URLs that a step may have."""
    return frozenset(entry.address for entry in entries)


def opened(entries: Sequence[Entry]) -> Opened | None:
    """Return the open step. A missing lesson or step is reported and removed from the URL."""
    held = current(LessonState)
    if not held.lesson:
        return None
    lesson = next((one for one in shelf(entries)[0] if one.name == held.lesson), None)
    if lesson is None:
        refuse(LessonState, "lesson", _("There is no lesson “{name}” here.").format(name=held.lesson))
        keep(LessonState, step=1)
        return None
    if held.step > len(lesson.steps):
        words = _("The {what} is {value}; it may be at most {most}.")
        words = words.format(what=_("step"), value=held.step, most=len(lesson.steps))
        refuse(LessonState, "step", words)
        return Opened(lesson, 1)
    return Opened(lesson, held.step)
