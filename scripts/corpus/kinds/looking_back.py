"""Texts in which looking back helps: repeated sequences, tables asked again, echoes."""

from __future__ import annotations

from scripts.corpus import facts
from scripts.corpus.cast import BOYS, FOODS, GIRLS, OBJECT_NOUNS, ROOMS, STUFF
from scripts.corpus.templates import indefinite, tidy
from scripts.corpus.writer import Writer

COMMON_WORDS = sorted(
    {word for words in facts.CATEGORIES.values() for word in words}
    | {word for pair in facts.OPPOSITES for word in pair}
    | {*OBJECT_NOUNS, *FOODS, *ROOMS, *STUFF, *facts.ANIMALS}
)


def random_words(writer: Writer, count: int) -> list[str]:
    """Words, invented words, numbers, letters or names that nothing but looking back predicts."""
    rng, style = writer.rng, writer.rng.random()
    if style < 0.6:
        return rng.sample(COMMON_WORDS, count)
    if style < 0.75:
        return [writer.invented() for _ in range(count)]
    if style < 0.85:
        return [str(rng.randint(0, 999)) for _ in range(count)]
    if style < 0.92:
        return [rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(count)]
    return rng.sample(GIRLS + BOYS, count)


def repeat_words(writer: Writer) -> str:
    """A random sequence that is repeated once or twice."""
    rng = writer.rng
    words = random_words(writer, rng.choice([3, 4, 5, 6, 8, 10, 12, 16, 20]))
    glue = rng.choice([" ", " ", ", ", " - ", "\n"])
    line = glue.join(words)
    between = rng.choice([" ", "\n", ". ", " | ", "\nAgain: ", "\n\n", glue])
    return between.join([line] * rng.choice([2, 2, 2, 3]))


def lookup(writer: Writer) -> str:
    """A small table is given, then asked again in another order."""
    rng = writer.rng
    keys = random_words(writer, rng.randint(3, 7))
    values = random_words(writer, len(keys))
    table = list(dict(zip(keys, values, strict=True)).items())
    mark, glue = rng.choice([": ", " -> ", " = ", " is "]), rng.choice(["\n", ", ", ". ", "; "])
    again = rng.sample(table, len(table))
    return glue.join(f"{k}{mark}{v}" for k, v in table + again)


def shopping(writer: Writer) -> str:
    """A list of goods that comes back later in the text."""
    rng, cast = writer.rng, writer.cast()
    items = writer.some(FOODS + facts.CATEGORIES["fruit"] + ["milk", "eggs", "butter", "flour", "sugar", "tea"], 3, 6)
    goods = ", ".join(items[:-1]) + " and " + items[-1]
    text = rng.choice(
        [
            f'"Please buy {goods}," said <A>\'s <M>. <A> went to the store. "What do you need?" asked the man. "I need {goods}," said <A>. Then <A> went home with {goods}.',
            f"<A> made a list: {goods}. <A.he> said it again and again, so that <A.he> would not forget: {goods}. At the store <A.he> bought {goods}.",
            f"In the basket there were {goods}. <B> took {items[0]} out of the basket. Now there were only {', '.join(items[1:])}.",
            f"<A> likes {goods}. <B> likes {goods}, too.",
            f"First {', then '.join(items)}. That is what <A> ate. First {', then '.join(items)}.",
        ]
    )
    return tidy(writer.fill(text, cast))


def dialogue(writer: Writer) -> str:
    """Two speakers, one of whom repeats what the other said."""
    rng, cast = writer.rng, writer.cast()
    one, two = rng.choice([("A", "B"), (writer.fill("<A>", cast), writer.fill("<B>", cast)), ("Teacher", "Class")])
    items = []
    for _ in range(rng.randint(2, 5)):
        words = " ".join(random_words(writer, rng.randint(2, 6)))
        question, answer = rng.choice(
            [
                (f"Say {words}.", words.capitalize() + "."),
                (f"Repeat after me: {words}.", words.capitalize() + "."),
                (f"I have a {cast['O']}.", f"You have a {cast['O']}."),
                (f"I like {cast['F']}. What do you like?", f"I like {cast['G']}."),
                ("Where are you going?", f"I am going to {cast['L']}."),
                (f"The word is {cast['X']}. What is the word?", f"The word is {cast['X']}."),
                ("How are you?", "I am fine, thank you."),
            ]
        )
        items += [f"{one}: {question}", f"{two}: {answer}"]
    return indefinite("\n".join(items))
