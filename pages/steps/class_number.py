"""A covered number of the page Step by step as a question to the class that follows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classroom.answers import LARGEST, Numbers, written
from classroom.poll import Question
from ui import session
from ui.i18n import _

LONGEST = 2000  # characters of what the number is made of

Numbered = Mapping[str, Any]  # step → its matrix, as rows of numbers


def ask_class(numbers: Numbered, told: Any) -> None:
    """Ask the room for the number at this step, row and column; its name and parts are as the figure writes them."""
    room = session.room()
    try:
        value = float(numbers[told["step"]][told["row"]][told["column"]])
        name, parts = str(told["name"])[:LONGEST], str(told["text"])[:LONGEST]
    except (KeyError, IndexError, TypeError, ValueError):
        return  # of a figure that is no longer the one here
    if room is None or not abs(value) <= LARGEST:
        return
    true = written(value)
    words = _("Which number comes here? {name}").format(name=name)
    room.ask(Question("number", words, parts, Numbers(), [true], measured=lambda _typed: float(true)))
