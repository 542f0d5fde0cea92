"""Kinds of answers: what phones offer, what counts as an answer, and in which order answers are shown."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Protocol

N_ = str  # marks a text for Babel without translating it here

NO_ANSWER = N_("This does not answer the question.")
NO_NUMBER = N_("This cannot be counted: type a number such as 0.25 or -3.")
LARGEST = 1e12  # largest number that may be typed

_HEAD = re.compile(r"L(0|[1-9]\d{0,3})H(0|[1-9]\d{0,3})", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?=\.?\d)\d*\.?\d*(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)


class AnswerKind(Protocol):
    """How a question is answered; ``refusal`` is the sentence shown for an invalid answer."""

    refusal: str

    def read(self, given: str) -> str | None:
        """Normalize an answer; None if it is invalid."""
        ...

    def label(self, value: str) -> str:
        """The label of a value."""
        ...

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """The values to draw, in order: the most frequent ``given`` and the first ``expected``, ``most`` of each."""
        ...

    def offered(self) -> dict[str, Any]:
        """What phones offer, as JSON."""
        ...

    def values(self) -> list[str]:
        """Every possible value, in order; empty if any number may be typed."""
        ...

    def kept(self) -> tuple[str, Any]:
        """The kind's name and its content as JSON, from which it is restored."""
        ...


class Options:
    """A few values with labels, to tap. All answers given are shown, in the order of the options."""

    refusal = NO_ANSWER

    def __init__(self, options: Sequence[tuple[str, str]]) -> None:
        self._labels = dict(options)

    def read(self, given: str) -> str | None:
        """See :class:`AnswerKind`."""
        return given if given in self._labels else None

    def label(self, value: str) -> str:
        """See :class:`AnswerKind`."""
        return self._labels[value]

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """See :class:`AnswerKind`."""
        return [value for value in self._labels if value in given or value in expected[:most]]

    def offered(self) -> dict[str, Any]:
        """See :class:`AnswerKind`."""
        return {"options": [list(option) for option in self._labels.items()]}

    def values(self) -> list[str]:
        """See :class:`AnswerKind`."""
        return list(self._labels)

    def kept(self) -> tuple[str, Any]:
        """See :class:`AnswerKind`."""
        return "options", [list(option) for option in self._labels.items()]


class Heads:
    """A head by layer and number; ``counts`` has the number of heads per layer, 0 where none can be measured."""

    refusal = NO_ANSWER

    def __init__(self, counts: Sequence[int]) -> None:
        self._counts = list(counts)

    def read(self, given: str) -> str | None:
        """See :class:`AnswerKind`."""
        found = _HEAD.fullmatch(given)
        known = found and int(found[1]) < len(self._counts) and int(found[2]) < self._counts[int(found[1])]
        return given if known else None

    def label(self, value: str) -> str:
        """See :class:`AnswerKind`."""
        return value

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """See :class:`AnswerKind`."""
        return list(dict.fromkeys([*given[:most], *expected[:most]]))

    def offered(self) -> dict[str, Any]:
        """See :class:`AnswerKind`."""
        return {"options": None, "heads": self._counts}

    def values(self) -> list[str]:
        """See :class:`AnswerKind`."""
        return [f"L{layer}H{head}" for layer, count in enumerate(self._counts) for head in range(count)]

    def kept(self) -> tuple[str, Any]:
        """See :class:`AnswerKind`."""
        return "heads", self._counts


class TypedNumbers:
    """Any number up to :data:`LARGEST`, with a decimal point or comma. All answers are shown, in order of size."""

    refusal = NO_NUMBER

    def read(self, given: str) -> str | None:
        """Normalize the notation: “.50”, “0,5” and “５e-1” become “0.5”.

        NaN and numbers that are too large are invalid.
        """
        plain = unicodedata.normalize("NFKC", given).strip().replace("−", "-").replace(",", ".")
        value = float(plain) if _NUMBER.fullmatch(plain) else math.inf
        return written(value) if abs(value) <= LARGEST else None

    def label(self, value: str) -> str:
        """The number with a minus sign instead of a hyphen."""
        return value.replace("-", "−")

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """See :class:`AnswerKind`."""
        return sorted({*given, *expected}, key=float)

    def offered(self) -> dict[str, Any]:
        """See :class:`AnswerKind`."""
        return {"options": None}

    def values(self) -> list[str]:
        """See :class:`AnswerKind`."""
        return []

    def kept(self) -> tuple[str, Any]:
        """See :class:`AnswerKind`."""
        return "typed", None


def written(value: float) -> str:
    """A number as an answer stores it: up to twelve digits, no signed zero."""
    return f"{value + 0.0:.12g}"
