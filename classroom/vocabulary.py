"""A model's tokens, found by what is typed of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Any

from classroom.answers import NO_ANSWER

SPACES = "·▁Ġ"  # how tokens show a leading space


class Vocabulary:
    """``labels`` are the tokens as displayed, by id. An answer is an id in decimal digits."""

    refusal = NO_ANSWER

    def __init__(self, labels: Sequence[str]) -> None:
        self._labels = labels
        self._sorted = sorted((_typed(label), number) for number, label in enumerate(labels) if label.strip(SPACES))

    def read(self, given: str) -> str | None:
        """Return the id; None if there is no such token."""
        known = given.isascii() and given.isdigit() and len(given) <= 9 and int(given) < len(self._labels)
        return str(int(given)) if known else None

    def label(self, value: str) -> str:
        """The token with this id."""
        return self._labels[int(value)]

    def shown(self, given: Sequence[str], expected: Sequence[str], most: int) -> list[str]:
        """The most frequent answers, then the likeliest tokens."""
        return list(dict.fromkeys([*given[:most], *expected[:most]]))

    def offered(self) -> dict[str, Any]:
        """Offer nothing in advance: a phone requests completions as the student types."""
        return {"options": None}

    def values(self) -> list[str]:
        """Every id."""
        return [str(number) for number in range(len(self._labels))]

    def kept(self) -> tuple[str, Any]:
        """The labels by id."""
        return "vocabulary", list(self._labels)

    def complete(self, typed: str, most: int = 8) -> list[tuple[str, str]]:
        """Id and label of tokens that start with ``typed``, ignoring case, with or without a leading space.

        The shortest first, and among those the typed case before the others.
        """
        wanted = _typed(typed.strip())
        if not wanted:
            return []
        start = bisect_left(self._sorted, (wanted, -1))
        end = bisect_left(self._sorted, (wanted + "\U0010ffff", -1), lo=start)
        found = [number for _, number in self._sorted[start : min(end, start + 4000)]]
        found.sort(key=lambda number: self._order(number, typed.strip()))
        return [(str(number), self._labels[number]) for number in found[:most]]

    def beginnings(self, typed: str, most: int = 4) -> list[tuple[str, str]]:
        """Id and label of the longest tokens that ``typed`` starts with, ignoring case.

        Returns the longest with a leading space and the longest without, since either may be meant.
        """
        wanted, bare = _typed(typed.strip()), typed.strip().lstrip(SPACES)
        found = list[int]()
        for spaced in (True, False):
            lengths = range(len(wanted), 0, -1)
            found += next(filter(None, (self._just(wanted[:length], spaced=spaced) for length in lengths)), [])
        found.sort(key=lambda number: (-len(self._labels[number].lstrip(SPACES)), self._strange(number, bare), number))
        return [(str(number), self._labels[number]) for number in found[:most]]

    def _just(self, wanted: str, *, spaced: bool) -> list[int]:
        """Ids of tokens that are exactly what was typed."""
        start = bisect_left(self._sorted, (wanted, -1))
        same = takewhile(lambda one: one[0] == wanted, islice(self._sorted, start, None))
        return [number for _, number in same if (self._labels[number][0] in SPACES) == spaced]

    def _strange(self, number: int, typed: str) -> tuple[bool, bool]:
        label = self._labels[number]
        bare = label.lstrip(SPACES)
        return not typed.startswith(bare), label == bare

    def _order(self, number: int, typed: str) -> tuple[int, bool, bool, int]:
        label = self._labels[number]
        bare = label.lstrip(SPACES)
        return len(bare), not bare.startswith(typed), label == bare, number


def _typed(label: str) -> str:
    return label.lstrip(SPACES).casefold()
