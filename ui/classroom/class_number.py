"""Ask the class for a hidden number of a step-by-step page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classroom.answers import LARGEST, TypedNumbers, written
from classroom.poll import ClassQuestion
from ui.state import session
from ui.wording.i18n import _

LONGEST = 2000  # characters of the expression that gives the number
MOST_DECIMALS = 12  # as the figure shows the number; also the most digits before the point

Numbered = Mapping[str, Any]  # step → its matrix as rows of numbers


def ask_class(numbers: Numbered, told: Any) -> None:
    """Ask the room for the number at this step, row and column. Name, parts and decimals are those of the figure."""
    room = session.room()
    try:
        value = float(numbers[told["step"]][told["row"]][told["column"]])
        name, parts = str(told["name"])[:LONGEST], str(told["text"])[:LONGEST]
        decimals = int(told["decimals"])
    except (KeyError, IndexError, TypeError, ValueError):
        return  # sent by a figure that is no longer shown
    if room is None or not abs(value) <= LARGEST or abs(decimals) > MOST_DECIMALS:
        return
    true = written(value)
    words = _("Which number comes here? {name}").format(name=name)
    near = 0.5 * 10.0**-decimals  # half a unit in the last decimal shown
    room.ask(
        ClassQuestion("number", words, parts, TypedNumbers(), [true], measured=lambda _typed: float(true), near=near)
    )
