"""Two token sequences aligned into common pieces by the characters that they cover, never by index.

A shared piece is the shortest run of whole tokens on both sides that covers the same characters. Tokens for characters
that the other text lacks are a piece of one side only.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from analysis.units import WORD
from model_runner.tokens import Token

WRITTEN = re.compile(rf"{WORD.pattern}|\S|\s+$")  # texts are compared by words, since single letters match by chance


@dataclass(frozen=True)
class Side:
    """The tokens, and the text to which their character positions refer."""

    text: str
    tokens: tuple[Token, ...]


@dataclass(frozen=True)
class Piece:
    """Tokens of the first and of the second side; None if a side has none of it."""

    a: range | None
    b: range | None

    @property
    def shared(self) -> bool:
        return self.a is not None and self.b is not None

    def of(self, side: int) -> range | None:
        """The tokens of the first side (0) or the second (1)."""
        return self.b if side else self.a


def same_characters(a: str, b: str) -> dict[int, int]:
    """Characters of ``a`` → the matching characters of ``b``: whole words in the same order."""
    if a == b:
        return {i: i for i in range(len(a))}
    spans = [[match.span() for match in WRITTEN.finditer(text)] for text in (a, b)]
    words = [[text[start:end] for start, end in one] for text, one in zip((a, b), spans, strict=True)]
    found: dict[int, int] = {}
    for first, second, size in SequenceMatcher(None, *words, autojunk=False).get_matching_blocks():
        for one, other in zip(spans[0][first : first + size], spans[1][second : second + size], strict=True):
            start = one[0] - _space_before(a[: one[0]], b[: other[0]])
            found |= {i: i + other[0] - one[0] for i in range(start, one[1])}
    return found


def _space_before(a: str, b: str) -> int:
    """Number of trailing spaces that both share; a space belongs to the following word, as in most tokens."""
    count = 0
    while count < min(len(a), len(b)) and a[-1 - count].isspace() and a[-1 - count] == b[-1 - count]:
        count += 1
    return count


def aligned(a: Side, b: Side) -> tuple[Piece, ...]:
    """All tokens of both sides once, in order. O(characters + tokens) if the texts are the same.

    Tokens before the first character and after the last (⟨bos⟩, ⟨CLS⟩, ⟨SEP⟩) are matched by position. If both sides
    split a piece's characters alike, bytes included, each token is a piece.
    """
    partner = same_characters(a.text, b.text)
    inner = [_with_characters(side) for side in (a, b)]
    shared, known = list[tuple[range, range]](), {*partner.values()}
    for first, second in _linked(a, b, partner, inner):
        if _whole(a, first, partner.keys()) and _whole(b, second, known):
            shared += _refined(a, b, first, second)
    before = _by_place(range(inner[0].start), range(inner[1].start))
    after = _by_place(range(inner[0].stop, len(a.tokens)), range(inner[1].stop, len(b.tokens)))
    return _in_order([*before, *shared, *after], len(a.tokens), len(b.tokens))


def _with_characters(side: Side) -> range:
    """From the first to the last token that covers characters; empty at the end if none does."""
    found = [i for i, token in enumerate(side.tokens) if token.end > token.start]
    return range(found[0], found[-1] + 1) if found else range(len(side.tokens), len(side.tokens))


def _linked(a: Side, b: Side, partner: dict[int, int], inner: Sequence[range]) -> list[tuple[range, range]]:
    """The shortest runs of tokens on both sides that are connected by shared characters."""
    owners: dict[int, list[int]] = {}
    for i in inner[1]:
        for character in range(b.tokens[i].start, b.tokens[i].end):
            owners.setdefault(character, []).append(i)
    links = sorted(
        {
            (i, other)
            for i in inner[0]
            for character in range(a.tokens[i].start, a.tokens[i].end)
            if character in partner
            for other in owners.get(partner[character], ())
        }
    )
    runs: list[tuple[range, range]] = []
    for first, second in links:
        if runs and (first < runs[-1][0].stop or second < runs[-1][1].stop):
            run = runs.pop()
            runs.append(
                (range(run[0].start, max(run[0].stop, first + 1)), range(run[1].start, max(run[1].stop, second + 1)))
            )
        else:
            runs.append((range(first, first + 1), range(second, second + 1)))
    return runs


def _whole(side: Side, run: range, known: Container[int]) -> bool:
    """True if the other text has all of it, ignoring a leading or trailing space, which many tokens include."""
    every = {i for token in run for i in range(side.tokens[token].start, side.tokens[token].end)}
    written = {i for i in every if not side.text[i].isspace()} or every
    return all(i in known for i in written)


def _refined(a: Side, b: Side, first: range, second: range) -> list[tuple[range, range]]:
    """Token by token if both are split alike."""

    def cuts(side: Side, run: range) -> list[tuple[str, int, int]]:
        start = side.tokens[run[0]].start
        return [(token.text, token.start - start, token.end - start) for token in side.tokens[run.start : run.stop]]

    alike = len(first) == len(second) and cuts(a, first) == cuts(b, second)
    return (
        [(range(i, i + 1), range(j, j + 1)) for i, j in zip(first, second, strict=True)] if alike else [(first, second)]
    )


def _by_place(first: range, second: range) -> list[tuple[range, range]]:
    """Match tokens without characters at the same end of both texts, one by one if their numbers are equal."""
    if not first or not second:
        return []
    if len(first) != len(second):
        return [(first, second)]
    return [(range(i, i + 1), range(j, j + 1)) for i, j in zip(first, second, strict=True)]


def _in_order(shared: list[tuple[range, range]], n_first: int, n_second: int) -> tuple[Piece, ...]:
    """The shared pieces and, in between, every other token as a piece of its side."""
    pieces: list[Piece] = []
    at, other = 0, 0
    for first, second in [*shared, (range(n_first, n_first), range(n_second, n_second))]:
        pieces += [Piece(range(i, i + 1), None) for i in range(at, first.start)]
        pieces += [Piece(None, range(j, j + 1)) for j in range(other, second.start)]
        pieces += [Piece(first, second)] if first else []
        at, other = first.stop, second.stop
    return tuple(pieces)
