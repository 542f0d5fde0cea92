"""Sentences like those of the examples with words swapped, drawn from a seed, and never the example itself.

Each comes in three versions: unchanged, with the word changed that should matter, and with one changed that should not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from scripts.check.story_reader import Sentence
from scripts.corpus import facts
from scripts.corpus.cast import BOYS, GIRLS
from scripts.corpus.chinese import cast as chinese_cast
from scripts.corpus.chinese import facts as chinese


@dataclass(frozen=True)
class Trial:
    """``changed`` differs from ``base`` in the word that should matter, ``other`` in one that should not."""

    base: Sentence
    changed: Sentence
    other: Sentence

    @property
    def sentences(self) -> tuple[Sentence, Sentence, Sentence]:
        return self.base, self.changed, self.other


Template = Callable[[Random], Trial]


def at(text: str, looked_at: str, answer: str, which: int = 0, written: str = "") -> Sentence:
    """A sentence whose word is located by itself; among several, the one numbered ``which`` (-1: the last)."""
    start = text.rindex(looked_at) if which < 0 else -1
    for _ in range(which + 1):
        start = text.index(looked_at, start + 1)
    return Sentence(text, (start, start + len(looked_at)), answer, written)


def animals(text: str, noises: Mapping[str, str]) -> Template:
    """{0} meets {1}, and the pronoun makes the noise of {0}."""

    def template(rng: Random) -> Trial:
        while True:
            first, second, new, other = rng.sample(list(noises), 4)
            if len({noises[one] for one in (first, second, new, other)}) == 4:
                break
        return Trial(
            *(at(text.format(a, b), a, noises[a]) for a, b in ((first, second), (new, second), (first, other)))
        )

    return template


def gave_back(text: str, names: Sequence[str], things: Sequence[str], answer: str) -> Template:
    """{0} gave {1} the {2}, who gave it back to {0}; the thing should not matter."""

    def template(rng: Random) -> Trial:
        giver, receiver, new = rng.sample(names, 3)
        thing, other = rng.sample(things, 2)
        rows = (giver, thing), (new, thing), (giver, other)
        return Trial(*(at(text.format(a, receiver, o), a, answer.format(a)) for a, o in rows))

    return template


def givers(text: str, names: Sequence[str], answer: str) -> Template:
    """{0} and {1}, and {2} of the two gives; the word attended to is {0}. Who gives should not matter."""

    def template(rng: Random) -> Trial:
        first, second, new = rng.sample(names, 3)
        rows = (first, second, second), (new, second, second), (first, second, first)
        return Trial(*(at(text.format(a, b, g), a, answer.format(b if g == a else a)) for a, b, g in rows))

    return template


def capitals(text: str, rows: Sequence[tuple[str, str]], answer: str) -> Template:
    """The capital of another country, then that of {2}; the other country should not matter."""

    def template(rng: Random) -> Trial:
        known, asked, new, other = rng.sample(rows, 4)
        pairs = (known, asked), (known, new), (other, asked)
        return Trial(*(at(text.format(*one, two[0]), two[0], answer.format(two[1]), -1) for one, two in pairs))

    return template


def repeated(words: Sequence[str], glue: str, end: str, answer: str, length: int = 4) -> Template:
    """A list twice, without the last word; the first word of the list should not matter."""

    def template(rng: Random) -> Trial:
        *some, new, other = rng.sample(words, length + 2)
        lists = some, [*some[:-1], new], [other, *some[1:]]
        return Trial(*(_listed(one, glue, end, answer) for one in lists))

    return template


def _listed(words: Sequence[str], glue: str, end: str, answer: str) -> Sentence:
    start = len(glue.join(words[:-1]) + glue)
    text = glue.join([*words, *words[:-1]]) + end
    return Sentence(text, (start, start + len(words[-1])), answer.format(words[-1]))


def chases(text: str, beings: Sequence[str], answer: str, *, second: bool = False) -> Template:
    """{0} chases {1} because it …: the word attended to is {0}, or {1}; the other one should not matter."""

    def template(rng: Random) -> Trial:
        looked_at, beside, new, other = rng.sample(beings, 4)
        rows = (looked_at, beside), (new, beside), (looked_at, other)
        return Trial(*(at(text.format(*((b, a) if second else (a, b))), a, answer) for a, b in rows))

    return template


def sums(text: str, between: str) -> Template:
    """Two sums, of which the second is asked, or one; the word attended to is the first number of the last one."""

    def template(rng: Random) -> Trial:
        known, (a, new), (b, other) = rng.sample(range(10), 2), rng.sample(range(10), 2), rng.sample(range(10), 2)
        before = text.format(*known, sum(known))
        rows = (a, b), (new, b), (a, other)
        return Trial(
            *(Sentence(before + between.format(x, y), (len(before), len(before) + 1), str(x + y)) for x, y in rows)
        )

    return template


def hidden_capital(text: str, rows: Sequence[tuple[str, str]], answer: str) -> Template:
    """The capital of {0} is hidden, after a person named {1}, who should not matter."""

    def template(rng: Random) -> Trial:
        asked, new = rng.sample(rows, 2)
        return Trial(*(at(text.format(one[0]), one[0], answer.format(one[1])) for one in (asked, new, asked)))

    return template


def says_thanks(rng: Random) -> Trial:
    """Whoever was given something says thank you; what it was should not matter."""
    giver, receiver, new = rng.sample(CHINESE_NAMES, 3)
    thing, other = rng.sample(CHINESE_THINGS, 2)
    rows = (thing, receiver), (thing, new), (other, receiver)
    return Trial(*(at(f"{giver}把{o}给了{name}，[MASK]说谢谢。", name, name) for o, name in rows))


def lists(text: str, words: Sequence[str], place: int) -> Template:
    """Words in a row, one of them hidden; the word attended to is number ``place``, of which only the place matters."""

    def template(rng: Random) -> Trial:
        count = text.count("{}")
        *row, new, other = rng.sample(words, count + 2)
        rows = [list(row), [*row[:place], new, *row[place + 1 :]], [other, *row[1:]]]
        found: list[Sentence] = []
        for one in rows:
            parts = text.split("{}")
            start = sum(map(len, parts[: place + 1])) + sum(map(len, one[:place]))
            found.append(Sentence(text.format(*one), (start, start + len(one[place])), f" {row[0]}"))
        return Trial(*found)

    return template


NAMES, CHINESE_NAMES = [*GIRLS, *BOYS], [*chinese_cast.GIRLS, *chinese_cast.BOYS]
THINGS = ["ball", "book", "kite", "drum", "hat", "cup", "box", "bell", "ring", "lamp", "key", "coin"]
CHINESE_THINGS = ["书", "苹果", "雨伞", "皮球", "铅笔", "帽子", "盒子", "围巾", "花", "糖"]
NOISES = {animal: f" {row[0]}" for animal, row in facts.ANIMALS.items()}
CHINESE_NOISES = {animal: row[1] for animal, row in chinese.ANIMALS.items()}
CHINESE_CALLS = {animal: noise[:-1] for animal, noise in CHINESE_NOISES.items() if noise.endswith("叫")}
CAPITALS = [row for rows in facts.CAPITALS_BY_CONTINENT.values() for row in rows]
COMMON_CAPITALS = [row for row in CAPITALS if row[0] in facts.COMMON_COUNTRIES]
COMMON_CHINESE_CAPITALS = [row for row in chinese.CAPITALS if row[0] in chinese.COMMON_COUNTRIES]
