"""How a question is answered: what phones offer for it, what of that is an answer, and in which order answers stand."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Protocol

N_ = str  # marks a text for Babel without translating it here

NO_ANSWER = N_("This does not answer the question.")
NO_NUMBER = N_("This cannot be counted: type a number such as 0.25 or -3.")
LARGEST = 1e12  # of a typed number

_HEAD = re.compile(r"L(0|[1-9]\d{0,3})H(0|[1-9]\d{0,3})", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?=\.?\d)\d*\.?\d*(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)


class AnswerKind(Protocol):
    """``refusal`` is the sentence for what is no answer."""

    refusal: str

    def read(self, given: str) -> str | None:
        """The value as which it is counted; None for what is no answer."""
        ...

    def label(self, value: str) -> str:
        """What a value is called."""
        ...

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """In order, those of the values ``given``, most often first, and ``expected`` that are drawn."""
        ...

    def offered(self) -> dict[str, Any]:
        """What a phone is told to offer."""
        ...

    def values(self) -> list[str]:
        """Every value that there is, in order; nothing where any number may be typed."""
        ...

    def kept(self) -> tuple[str, Any]:
        """What it is made of again, as JSON."""
        ...


class Options:
    """A few values with their labels, to be tapped on. All that were given are shown, in this order."""

    refusal = NO_ANSWER

    def __init__(self, options: Sequence[tuple[str, str]]) -> None:
        self._labels = dict(options)

    def read(self, given: str) -> str | None:
        """As :class:`AnswerKind` has it."""
        return given if given in self._labels else None

    def label(self, value: str) -> str:
        """As :class:`AnswerKind` has it."""
        return self._labels[value]

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """As :class:`AnswerKind` has it."""
        return [value for value in self._labels if value in given or value in expected[:most]]

    def offered(self) -> dict[str, Any]:
        """As :class:`AnswerKind` has it."""
        return {"options": [list(option) for option in self._labels.items()]}

    def values(self) -> list[str]:
        """As :class:`AnswerKind` has it."""
        return list(self._labels)

    def kept(self) -> tuple[str, Any]:
        """As :class:`AnswerKind` has it."""
        return "options", [list(option) for option in self._labels.items()]


class Heads:
    """A head by layer and number; ``counts`` says how many each layer has, 0 where none can be measured."""

    refusal = NO_ANSWER

    def __init__(self, counts: Sequence[int]) -> None:
        self._counts = list(counts)

    def read(self, given: str) -> str | None:
        """As :class:`AnswerKind` has it."""
        found = _HEAD.fullmatch(given)
        known = found and int(found[1]) < len(self._counts) and int(found[2]) < self._counts[int(found[1])]
        return given if known else None

    def label(self, value: str) -> str:
        """As :class:`AnswerKind` has it."""
        return value

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """As :class:`AnswerKind` has it."""
        return list(dict.fromkeys([*given[:most], *expected[:most]]))

    def offered(self) -> dict[str, Any]:
        """As :class:`AnswerKind` has it."""
        return {"options": None, "heads": self._counts}

    def values(self) -> list[str]:
        """As :class:`AnswerKind` has it."""
        return [f"L{layer}H{head}" for layer, count in enumerate(self._counts) for head in range(count)]

    def kept(self) -> tuple[str, Any]:
        """As :class:`AnswerKind` has it."""
        return "heads", self._counts


class TypedNumbers:
    """Any number up to :data:`LARGEST`, with a point or a comma before its decimals. All are shown, by their size."""

    refusal = NO_NUMBER

    def read(self, given: str) -> str | None:
        """Written in one way: “.50”, “0,5” and “５e-1” are “0.5”. NaN and what is too large are no answers."""
        plain = unicodedata.normalize("NFKC", given).strip().replace("−", "-").replace(",", ".")
        value = float(plain) if _NUMBER.fullmatch(plain) else math.inf
        return written(value) if abs(value) <= LARGEST else None

    def label(self, value: str) -> str:
        """As it is printed: with a minus and no hyphen."""
        return value.replace("-", "−")

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """As :class:`AnswerKind` has it."""
        return sorted({*given, *expected}, key=float)

    def offered(self) -> dict[str, Any]:
        """As :class:`AnswerKind` has it."""
        return {"options": None}

    def values(self) -> list[str]:
        """As :class:`AnswerKind` has it."""
        return []

    def kept(self) -> tuple[str, Any]:
        """As :class:`AnswerKind` has it."""
        return "typed", None


def written(value: float) -> str:
    """A number as an answer has it: up to twelve digits, no zero with a sign."""
    return f"{value + 0.0:.12g}"
