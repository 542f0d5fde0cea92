"""The tokens of a model by what is typed of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from classroom.answers import NO_ANSWER

SPACES = "·▁Ġ"  # as tokens show the space before them


class Vocabulary:
    """``labels`` are the tokens as they are drawn, by their ids. An answer is an id, written in digits."""

    refusal = NO_ANSWER

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = labels
        self._sorted = sorted((_typed(label), number) for number, label in enumerate(labels) if label.strip(SPACES))

    def read(self, given: str) -> str | None:
        """An id; None if there is no such token."""
        known = given.isascii() and given.isdigit() and len(given) <= 9 and int(given) < len(self._labels)
        return str(int(given)) if known else None

    def label(self, value: str) -> str:
        """The token with this id."""
        return self._labels[int(value)]

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """Those that most gave, then the likeliest."""
        return list(dict.fromkeys([*given[:most], *expected[:most]]))

    def offered(self) -> dict[str, Any]:
        """A phone is told of tokens when some of one is typed."""
        return {"options": None}

    def complete(self, typed: str, most: int = 8) -> list[tuple[str, str]]:
        """Id and label of tokens that begin so, whatever their case and with a space before them or without.

        The shortest first, and those in the case that was typed before the others.
        """
        wanted = _typed(typed.strip())
        if not wanted:
            return []
        start = bisect_left(self._sorted, (wanted, -1))
        end = bisect_left(self._sorted, (wanted + "\U0010ffff", -1), lo=start)
        found = [number for _, number in self._sorted[start : min(end, start + 4000)]]
        found.sort(key=lambda number: self._order(number, typed.strip()))
        return [(str(number), self._labels[number]) for number in found[:most]]

    def _order(self, number: int, typed: str) -> tuple[int, bool, bool, int]:
        label = self._labels[number]
        bare = label.lstrip(SPACES)
        return len(bare), not bare.startswith(typed), label == bare, number


def _typed(label: str) -> str:
    return label.lstrip(SPACES).casefold()
