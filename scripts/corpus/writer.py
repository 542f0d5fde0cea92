"""The state every kind of text draws from: one seeded stream of chances.

The order of the draws is the corpus: a draw added, dropped or moved anywhere changes every later document. Lists of
wordings are therefore built whole (each wording may draw a name) before one of them is chosen.
"""

from __future__ import annotations

import random
from typing import TypeVar

from scripts.corpus import cast as props
from scripts.corpus import facts
from scripts.corpus.cast import Being, Cast
from scripts.corpus.templates import fill

T = TypeVar("T")


class Writer:
    """Draws people, things and wordings; the same seed draws the same ones in the same order."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.countries = [
            (country, capital, continent)
            for continent, rows in facts.CAPITALS_BY_CONTINENT.items()
            for country, capital in rows
        ]
        self.country_weights = [3.0 if c in facts.COMMON_COUNTRIES else 1.0 for c, _, _ in self.countries]

    def some(self, options: list[T], low: int, high: int) -> list[T]:
        """A random sample of between ``low`` and ``high`` different options, both included."""
        return self.rng.sample(options, min(len(options), self.rng.randint(low, high)))

    def invented(self) -> str:
        """A made-up word such as "Zorkal"."""
        return "".join(self.rng.choices(props.SYLLABLES, k=self.rng.randint(2, 3))).capitalize()

    def child(self, taken: set[str]) -> Being:
        """A child whose name is not in ``taken``; the name is added there."""
        while True:
            gender = self.rng.choice(["she", "he"])
            names = props.GIRLS if gender == "she" else props.BOYS
            name = self.invented() if self.rng.random() < 0.06 else self.rng.choice(names)
            if name not in taken:
                taken.add(name)
                return Being(name, gender)

    def cast(self) -> Cast:
        """Everyone and everything a story may need."""
        rng = self.rng
        taken: set[str] = set()
        grown_up, gender = rng.choice(props.GROWN_UPS)
        food, other_food = rng.sample(props.FOODS, 2)
        return {
            "A": self.child(taken),
            "B": self.child(taken),
            "C": self.child(taken),
            "M": Being(grown_up, gender),
            "P": self.pet(),
            "W": Being("", "he", rng.choice(props.WILD), rng.choice(props.WILD_ADJECTIVES)),
            "O": (rng.choice(props.OBJECT_ADJECTIVES) + " " if rng.random() < 0.7 else "")
            + rng.choice(props.OBJECT_NOUNS),
            "F": food,
            "G": other_food,
            "L": rng.choice(props.PLACES),
            "K": rng.choice(facts.COLOURS),
            "X": self.invented(),
        }

    def pet(self) -> Being:
        """A pet with a name, its kind and what it is like."""
        rng = self.rng
        name, gender = rng.choice(props.PET_NAMES), rng.choice(["she", "he"])
        return Being(name, gender, rng.choice(props.PETS), rng.choice(props.PET_ADJECTIVES))

    def fill(self, template: str, cast: Cast) -> str:
        """The template as a sentence (see ``templates.fill``)."""
        return fill(template, cast, self.rng)

    def lines(self, items: list[str]) -> str:
        """The items as one paragraph or as lines; always lines where an item has several of them."""
        if any("\n" in item for item in items):
            return "\n".join(items)
        return self.rng.choice([" ", " ", "\n"]).join(items)

    def country(self) -> tuple[str, str, str]:
        """A country, its capital and its continent; those children meet first are three times as likely."""
        return self.rng.choices(self.countries, self.country_weights)[0]
