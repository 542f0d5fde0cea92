"""Things that come in a fixed order, and small sums."""

from __future__ import annotations

from scripts.corpus import facts
from scripts.corpus.templates import tidy
from scripts.corpus.writer import Writer


def order(writer: Writer) -> str:
    """Days, months, letters, numbers: things that come in a fixed order."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(1, 4)):
        series, noun = rng.choice(
            [(facts.DAYS, "day")] * 4
            + [(facts.MONTHS, "month")] * 4
            + [(facts.SEASONS, "season"), (facts.ALPHABET, "letter"), (facts.NUMBER_WORDS[1:], "number")]
            + [(facts.ORDINALS, "word"), ([str(n) for n in range(1, 101)], "number"), (facts.PLANETS, "planet")]
        )
        i = rng.randrange(len(series) - 1)
        here, after = series[i], series[i + 1]
        kind = rng.randint(0, 9)
        if kind <= 3:
            start = rng.choice([0, 0, i])
            stop = min(len(series), start + rng.randint(3, 14))
            items.append(rng.choice([", ", ", ", " "]).join(series[start:stop]) + rng.choice([".", ""]))
        elif kind == 4 and noun in ("day", "month"):
            items.append(
                f"The {noun}s of the {'week' if noun == 'day' else 'year'} are {', '.join(series[:-1])} and {series[-1]}."
            )
        elif kind == 5:
            items.append(f"What comes after {here}? {after} comes after {here}.")
        elif kind == 6:
            items.append(f"After {here} comes {after}.")
        elif kind == 7:
            items.append(f"{here} comes before {after}, and {after} comes after {here}.")
        elif kind == 8 and noun == "day":
            items.append(f"Today is {here}. Tomorrow is {after}.")
            if i:
                items.append(f"Yesterday was {series[i - 1]}.")
        elif kind == 9 and noun == "month":
            items.append(f"It is {here} now. Next month is {after}.")
        else:
            items.append(f"The next {noun} after {here} is {after}.")
    return writer.lines([tidy(i) for i in items])


def sums(writer: Writer) -> str:
    """Small sums in digits, words and stories, or a counting-down rhyme."""
    rng, items, spelled = writer.rng, [], facts.NUMBER_WORDS
    if rng.random() < 0.2:
        noun = rng.choice(
            ["green bottles", "little ducks", "birds in a tree", "apples on a plate", "monkeys on the bed"]
        )
        items = [
            f"{spelled[n].capitalize()} {noun}. One goes away. {spelled[n - 1].capitalize() if n > 1 else 'No'} {noun} now."
            for n in range(rng.randint(3, 6), 0, -1)
        ]
        return writer.lines(items)
    for _ in range(rng.randint(2, 7)):
        a, b = rng.randint(0, 10), rng.randint(1, 10)
        big, small = max(a, b), min(a, b)
        name, thing = (
            writer.child(set()),
            rng.choice(["apples", "balls", "books", "cookies", "stones", "coins", "shells"]),
        )
        items.append(
            rng.choice(
                [
                    f"{a} + {b} = {a + b}",
                    f"{a} + {b} = {a + b}.",
                    f"{big} - {small} = {big - small}",
                    f"{spelled[a]} plus {spelled[b]} is {spelled[a + b]}.",
                    f"{spelled[big]} minus {spelled[small]} is {spelled[big - small]}.",
                    f"What is {a} plus {b}? {a} plus {b} is {a + b}.",
                    f"{name.name} had {spelled[big]} {thing}. {name.get('he')} got {spelled[small]} more. Now {name.get('he')} has {spelled[big + small]} {thing}.",
                    f"{name.name} had {spelled[big]} {thing}. {name.get('he')} gave away {spelled[small]}. Now {name.get('he')} has {spelled[big - small]} {thing}.",
                    f"{big + 1} is more than {small}. {small} is less than {big + 1}.",
                ]
            )
        )
    return writer.lines([tidy(i) for i in items])
