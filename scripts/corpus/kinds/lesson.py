"""A lesson at school or at home, with facts inside the dialogue."""

from __future__ import annotations

from scripts.corpus import facts
from scripts.corpus.templates import tidy
from scripts.corpus.writer import Writer


def facts_in_a_story(writer: Writer) -> str:
    """A lesson at school or at home, with facts inside the dialogue."""
    rng, cast = writer.rng, writer.cast()
    ask = rng.choice(["asked", "said"])
    items = [
        writer.fill(
            rng.choice(
                [
                    "<A> and <B> were at school. The teacher had many questions.",
                    '<A> sat down next to <A.his> <M>. "Ask me something," said <A>.',
                    "In the classroom, <A> put up <A.his> hand.",
                    "<A> and <B> played a game. One asked, and the other answered.",
                    '"Let\'s see what you know," said the teacher to <A> and <B>.',
                ]
            ),
            cast,
        )
    ]
    for _ in range(rng.randint(2, 5)):
        kind = rng.randint(0, 5)
        if kind <= 1:
            country, capital, _ = writer.country()
            question, answer = (
                f"What is the capital of {country}?",
                rng.choice([capital, f"The capital of {country} is {capital}"]),
            )
        elif kind == 2:
            a, b = rng.choice(facts.OPPOSITES)
            question, answer = f"What is the opposite of {a}?", rng.choice([b, f"The opposite of {a} is {b}"])
        elif kind == 3:
            thing, colour = rng.choice(facts.COLOUR_FACTS)
            question, answer = f"What color is {thing}?", f"{thing} is {colour}"
        elif kind == 4:
            animal = rng.choice(list(facts.ANIMALS))
            question, answer = f"What does the {animal} say?", f"The {animal} says {facts.ANIMALS[animal][1]}"
        else:
            i = rng.randrange(6)
            question, answer = f"What day comes after {facts.DAYS[i]}?", facts.DAYS[i + 1]
        who = rng.choice(["A", "B"])
        answer = answer[0].upper() + answer[1:]
        items.append(writer.fill(f'"{question}" {ask} the teacher. "{answer}," said <{who}>.', cast))
        if rng.random() < 0.3:
            items.append(writer.fill(f'"[Right|Very good|Well done|That is right], <{who}>," said the teacher.', cast))
    return tidy(writer.lines(items))
