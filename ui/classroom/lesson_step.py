"""A lesson step in a room: the question that it asks before its page, and what is shown beside the question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from classroom.room import Room

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from classroom.poll import ClassQuestion

ShowMap = Callable[[Callable[[str], None]], None]  # draws a map; calls its argument with the answer that is clicked


@dataclass(frozen=True)
class StepInRoom:
    """``name`` identifies the step in the room; ``words`` are shown on phones.

    ``question_about`` returns the question and what is drawn beside it, computed once, or None if it cannot be asked.
    It is None if the step has no question or its page now shows something else. ``show_card`` draws the step beside the
    page.
    """

    name: str
    words: str
    show_card: Callable[[], None]
    question_about: Callable[[], tuple[ClassQuestion, ShowMap | None] | None] | None = None

    def asks(self, room: Room) -> bool:
        """Return True if the question comes before the page."""
        return self.question_about is not None and self.name not in room.shown

    def was_shown(self, room: Room) -> bool:
        """Return True if the page may be shown: the question was asked or skipped."""
        return self.question_about is not None and self.name in room.shown

    def ask(self, room: Room) -> None:
        """Ask the class the step's question. If it cannot be asked, the page is shown without it."""
        asked = self.question_about() if self.question_about else None
        if asked is None:
            room.leave_step(self.name)
        else:
            room.ask(asked[0], self.name)

    def show_map(self) -> ShowMap | None:
        """Return what draws the map beside the question, if there is one."""
        asked = self.question_about() if self.question_about else None
        return asked[1] if asked else None
