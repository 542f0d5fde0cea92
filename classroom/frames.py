"""Frames that browsers send over a room's WebSocket, parsed and validated: one dataclass per kind, or a refusal."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

N_ = str  # marks a text for Babel without translating it here

LONGEST = 4096  # characters of a frame
LONGEST_NAME = 40
LONGEST_ANSWER = 80
LONGEST_KEY = 100  # characters of a figure's or a teacher's key
LONGEST_BORN = 16
TEACHERS = ("teach", "point", "ask", "reveal", "end", "show", "stage")  # frames that only teachers may send

UNREADABLE = N_("This message cannot be read.")
TOO_LONG = N_("This message is too long.")
ONLY_TEACHER = N_("Only the teacher can do this.")

_KEY = re.compile(r"[\w-]+", re.ASCII)


class Refused(Exception):
    """Why a request is refused, in one sentence for its sender."""


@dataclass(frozen=True)
class Join:
    """A student joins or rejoins; ``born`` identifies the server process it was connected to before, or is empty."""

    code: str
    born: str = ""


@dataclass(frozen=True)
class Teach:
    """The teacher's page connects."""

    code: str
    key: str


@dataclass(frozen=True)
class Vote:
    """An answer in a round; ``name`` is set if the teacher asks for names."""

    round: int
    answer: str
    name: str


@dataclass(frozen=True)
class Complete:
    """The beginning of a token that is being typed."""

    typed: str


@dataclass(frozen=True)
class Alive:
    """A phone checks that its connection still works."""


@dataclass(frozen=True)
class PointerFrame:
    """What the teacher points at in a figure, as JSON of its component, which the room does not interpret."""

    figure: str
    at: Any


Frame = Join | Teach | Vote | Complete | Alive | PointerFrame


def read(text: str | bytes | None, *, teacher: bool = False) -> Frame:
    """Parse a frame. Raises Refused if it is too long, invalid, or not allowed for students."""
    if not isinstance(text, str):
        raise Refused(UNREADABLE)
    if len(text) > LONGEST:
        raise Refused(TOO_LONG)
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise Refused(UNREADABLE) from None
    if not isinstance(given, dict):
        raise Refused(UNREADABLE)
    kind = given.get("kind")
    if kind in TEACHERS and not teacher and kind != "teach":
        raise Refused(ONLY_TEACHER)
    match kind:
        case "join":
            born = _text({"born": "", **given}, "born", LONGEST_BORN)
            return Join(_text(given, "code", 40), born)
        case "teach":
            return Teach(_text(given, "code", 40), _text(given, "key", LONGEST_KEY, _KEY))
        case "vote":
            return Vote(_whole(given, "round"), _text(given, "answer", LONGEST_ANSWER), _name(given))
        case "complete":
            return Complete(_text(given, "typed", LONGEST_ANSWER))
        case "alive":
            return Alive()
        case "point":
            return PointerFrame(_text(given, "figure", LONGEST_KEY), given.get("at"))
        case _:
            raise Refused(UNREADABLE)


def _text(given: dict[str, Any], name: str, longest: int, form: re.Pattern[str] | None = None) -> str:
    value = given.get(name)
    if not isinstance(value, str) or len(value) > longest or (form and not form.fullmatch(value)):
        raise Refused(UNREADABLE)
    return value


def _whole(given: dict[str, Any], name: str) -> int:
    value = given.get(name)
    if type(value) is not int:
        raise Refused(UNREADABLE)
    return value


def _name(given: dict[str, Any]) -> str:
    value = given.get("name", "")
    if not isinstance(value, str):
        raise Refused(UNREADABLE)
    return " ".join(value.split())[:LONGEST_NAME]
