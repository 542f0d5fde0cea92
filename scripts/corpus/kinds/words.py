"""Opposites, kinds of things, plurals and past tenses, and colours."""

from __future__ import annotations

from scripts.corpus import facts
from scripts.corpus.templates import tidy
from scripts.corpus.writer import Writer


def opposites(writer: Writer) -> str:
    """Pairs of opposites, as sentences, questions or a table."""
    rng = writer.rng
    rows = writer.some(facts.OPPOSITES, 2, 7)
    rows = [(b, a) if rng.random() < 0.3 else (a, b) for a, b in rows]
    style = rng.random()
    if style < 0.25:
        mark = rng.choice([": ", " - ", " -> ", " and ", " / "])
        return "\n".join(a + mark + b for a, b in rows)
    items = []
    for a, b in rows:
        items.append(
            rng.choice(
                [
                    f"The opposite of {a} is {b}.",
                    f"The opposite of {a} is {b}.",
                    f"The opposite of {a} is {b}.",
                    f"{a} is the opposite of {b}.",
                    f"What is the opposite of {a}? {b}.",
                    f"What is the opposite of {a}? The opposite of {a} is {b}.",
                    f"{a} and {b} are opposites.",
                    f"If it is not {a}, it is {b}.",
                    f'"What is the opposite of {a}?" asked {writer.child(set()).name}. "{b.capitalize()}," said {writer.child(set()).name}.',
                ]
            )
        )
    return writer.lines([tidy(i) for i in items])


def categories(writer: Writer) -> str:
    """What is a kind of what, and what is not."""
    rng, items = writer.rng, []
    style = rng.random()
    if style < 0.15:
        category = rng.choice(list(facts.CATEGORIES))
        members = writer.some(facts.CATEGORIES[category], 3, 6)
        first, last = ", ".join(members[:-1]), members[-1]
        return tidy(
            f"{first} and {last} are examples of {'a ' + category}. A {category} can be {members[0]} or {last}."
        )
    for _ in range(rng.randint(2, 7)):
        category = rng.choice(list(facts.CATEGORIES))
        member = rng.choice(facts.CATEGORIES[category])
        article = "" if member[0].isupper() or member in facts.MASS_NOUNS else "a "
        other = rng.choice([c for c in facts.CATEGORIES if c != category and member not in facts.CATEGORIES[c]])
        items.append(
            rng.choice(
                [
                    f"{article}{member} is a {category}.",
                    f"{article}{member} is a {category}.",
                    f"{article}{member} is a kind of {category}." if article else f"{member} is a {category}.",
                    f"What is {article}{member}? {article}{member} is a {category}.",
                    f"Is {article}{member} a {category}? Yes, {article}{member} is a {category}.",
                    f"Is {article}{member} a {other}? No, {article}{member} is a {category}.",
                ]
            )
        )
    return writer.lines([tidy(i) for i in items])


def language_drill(writer: Writer) -> str:
    """Plurals and past tenses."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(3, 7)):
        if rng.random() < 0.5:
            one, many = rng.choice(facts.PLURALS)
            count = rng.choice(["two", "three", "many", "five"])
            items.append(
                rng.choice(
                    [f"one {one}, {count} {many}", f"one {one}, {count} {many}.", f"The plural of {one} is {many}."]
                )
            )
        else:
            now, past = rng.choice(facts.PASTS)
            items.append(
                rng.choice(
                    [
                        f"Today I {now}, yesterday I {past}.",
                        f"The past of {now} is {past}.",
                        f"I {now} every day. Yesterday I {past}, too.",
                    ]
                )
            )
    return writer.lines([tidy(i) for i in items])


def colours(writer: Writer) -> str:
    """Which thing has which colour."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(2, 6)):
        thing, colour = rng.choice(facts.COLOUR_FACTS)
        word = rng.choice(["color", "color", "colour"])
        items.append(
            rng.choice(
                [
                    f"{thing} is {colour}.",
                    f"The {word} of {thing} is {colour}.",
                    f"What {word} is {thing}? {thing} is {colour}.",
                    f"{thing} is as {colour} as can be.",
                    f"{writer.child(set()).name} painted {thing}. It was {colour}.",
                ]
            )
        )
    return writer.lines([tidy(i) for i in items])
