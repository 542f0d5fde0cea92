"""A lesson's step as a room sees it: what it asks before its page is shown, and what stands beside the question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from classroom.room import Room

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from classroom.poll import ClassQuestion

ShowMap = Callable[[Callable[[str], None]], None]  # told what to do with an answer that is clicked


@dataclass(frozen=True)
class StepInRoom:
    """``name`` is what the room knows it by, ``words`` are for the phones.

    ``question_about`` gives the question and what is drawn beside it, made once; None where it cannot be asked. Without
    it the step has no question, or its page shows something else by now. ``show_card`` draws the step beside it.
    """

    name: str
    words: str
    show_card: Callable[[], None]
    question_about: Callable[[], tuple[ClassQuestion, ShowMap | None] | None] | None = None

    def asks(self, room: Room) -> bool:
        """Whether its question comes before its page."""
        return self.question_about is not None and self.name not in room.shown

    def was_shown(self, room: Room) -> bool:
        """Whether its page may be shown: its question was asked or skipped."""
        return self.question_about is not None and self.name in room.shown

    def ask(self, room: Room) -> None:
        """Put its question to the class; one that cannot be asked keeps its page from nobody."""
        asked = self.question_about() if self.question_about else None
        if asked is None:
            room.leave_step(self.name)
        else:
            room.ask(asked[0], self.name)

    def show_map(self) -> ShowMap | None:
        """What is drawn beside its question."""
        asked = self.question_about() if self.question_about else None
        return asked[1] if asked else None
