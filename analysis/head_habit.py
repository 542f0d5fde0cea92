"""What a head does on this text, in a sentence: the one rule that predicts the strongest key of most rows.

Every rule is exact, in terms of positions and token ids; none depends on a word's meaning. Rows with a single key are
left out.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from analysis.joined import first_query, n_looked_at
from model_runner.capture import ROWS, Capture

Kind = Literal["offset", "first", "token", "punctuation", "copy", "after_copy"]

FEWEST = 3  # rows that make a habit; two may agree by chance
MOST_ROWS = 0.5  # of the rows; a rule that holds for fewer is no habit


@dataclass(frozen=True)
class Habit:
    """``hits`` of the ``rows`` in which the rule names a key have their maximum there.

    For an unconditional rule ``rows`` are all. ``at`` is the offset, key − query, or the key's position; 0 for other
    rules.
    """

    kind: Kind
    at: int
    hits: int
    rows: int

    @property
    def share(self) -> float:
        """Share of its rows; 0 without any."""
        return self.hits / self.rows if self.rows else 0.0

    @property
    def holds(self) -> bool:
        """True if the rule is worth a sentence."""
        return self.hits >= FEWEST and self.share >= MOST_ROWS


@dataclass(frozen=True)
class Habits:
    """``most`` is the rule that most ``rows`` follow; ``repeats`` is a rule about repeated tokens.

    ``repeats`` is set if most of its rows follow it, and it is not implied by the other rule.
    """

    most: Habit | None
    repeats: Habit | None
    rows: int


def strongest_keys(capture: Capture, layer: int, head: int) -> list[tuple[int, int]]:
    """(query, key) for each row with more than one visible key: the key with the largest weight, the first of ties.

    Raises NoWeights, NoSuchPlace. O(tokens²) time, O(ROWS × tokens) memory.
    """
    record, n_tokens = capture.record(layer), len(capture.tokens)
    found: list[tuple[int, int]] = []
    for start in range(first_query(capture), n_tokens, ROWS):
        rows, keys = slice(start, min(start + ROWS, n_tokens)), slice(0, n_tokens)
        weights = capture.weights(layer, head, queries=rows, shares=True)
        visible = record.mask.tile(rows, keys, weights.device, head=head)
        largest = weights.masked_fill(~visible, -torch.inf).argmax(-1)
        looks = (visible.sum(-1) > 1) & (weights > 0).any(-1)
        found += [(start + row, int(largest[row])) for row in looks.nonzero()[:, 0].tolist()]
    return found


def head_habits(capture: Capture, layer: int, head: int) -> Habits:
    """The rules that this head follows on this text. Errors and cost as in ``strongest_keys``."""
    looks = strongest_keys(capture, layer, head)
    marks = [_is_punctuation(capture, place) for place in range(n_looked_at(capture))]
    across = first_query(capture) > 0  # positions in two different texts have no meaningful offset
    rules = _unconditional(looks, marks, across=across)
    most = max(rules, key=lambda rule: rule.hits, default=None)
    most = most if most is not None and most.hits else None
    repeats = [] if across else _of_repeats(looks, [token.id for token in capture.tokens])
    held = [rule for rule, hits in repeats if rule.holds and not _same(most, hits, marks)]
    return Habits(most, max(held, key=lambda rule: rule.hits, default=None), len(looks))


def _unconditional(looks: Sequence[tuple[int, int]], marks: Sequence[bool], *, across: bool) -> list[Habit]:
    """Rules that name a key in every row, the best of each kind; ties are resolved by order."""
    rows = len(looks)
    keys = Counter(key for _, key in looks)
    rules: list[Habit] = []
    if not across:
        offsets = Counter(key - query for query, key in looks)
        at = max(offsets, key=lambda by: (offsets[by], -abs(by)), default=0)
        rules.append(Habit("offset", at, offsets[at], rows))
    rules.append(Habit("first", 0, keys[0], rows))
    at = max((key for key in keys if key), key=lambda key: (keys[key], -key), default=0)
    rules.append(Habit("token", at, keys[at] if at else 0, rows))
    rules.append(Habit("punctuation", 0, sum(count for key, count in keys.items() if marks[key]), rows))
    return rules


def _of_repeats(looks: Sequence[tuple[int, int]], ids: Sequence[int]) -> list[tuple[Habit, list[tuple[int, int]]]]:
    """Rules about repeated tokens, each with the rows that follow it."""
    rules: list[tuple[Habit, list[tuple[int, int]]]] = []
    before: dict[int, list[int]] = {}
    earlier: dict[int, list[int]] = {}
    for place, token in enumerate(ids):
        earlier[place] = list(before.get(token, ()))
        before.setdefault(token, []).append(place)
    kinds: tuple[tuple[Kind, int], ...] = (("copy", 0), ("after_copy", 1))
    for kind, step in kinds:
        able = [(query, key) for query, key in looks if earlier[query]]
        hits = [(query, key) for query, key in able if key - step in earlier[query]]
        rules.append((Habit(kind, 0, len(hits), len(able)), hits))
    return rules


def _same(most: Habit | None, hits: Sequence[tuple[int, int]], marks: Sequence[bool]) -> bool:
    """True if the main rule names the same keys in these rows."""
    if most is None:
        return False
    says = {
        "offset": lambda query, key: key - query == most.at,
        "first": lambda _, key: key == 0,
        "token": lambda _, key: key == most.at,
        "punctuation": lambda _, key: marks[key],
    }[most.kind]
    return all(says(query, key) for query, key in hits)


def _is_punctuation(capture: Capture, place: int) -> bool:
    """True if a token is only punctuation (by Unicode) and spaces."""
    token = capture.tokens[place]
    text = capture.text[token.start : token.end].strip()
    return bool(text) and not token.special and all(unicodedata.category(sign).startswith("P") for sign in text)
