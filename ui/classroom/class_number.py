"""A covered number of steps as a question to the class that follows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classroom.answers import LARGEST, TypedNumbers, written
from classroom.poll import ClassQuestion
from ui.state import session
from ui.wording.i18n import _

LONGEST = 2000  # characters of what the number is made of
MOST_DECIMALS = 12  # of a number as the figure shows it; before the point as many may be left out

Numbered = Mapping[str, Any]  # step → its matrix, as rows of numbers


def ask_class(numbers: Numbered, told: Any) -> None:
    """Ask the room for the number at this step, row and column; name, parts and decimals are as the figure has them."""
    room = session.room()
    try:
        value = float(numbers[told["step"]][told["row"]][told["column"]])
        name, parts = str(told["name"])[:LONGEST], str(told["text"])[:LONGEST]
        decimals = int(told["decimals"])
    except (KeyError, IndexError, TypeError, ValueError):
        return  # of a figure that is no longer the one here
    if room is None or not abs(value) <= LARGEST or abs(decimals) > MOST_DECIMALS:
        return
    true = written(value)
    words = _("Which number comes here? {name}").format(name=name)
    near = 0.5 * 10.0**-decimals  # as it is shown
    room.ask(
        ClassQuestion("number", words, parts, TypedNumbers(), [true], measured=lambda _typed: float(true), near=near)
    )
