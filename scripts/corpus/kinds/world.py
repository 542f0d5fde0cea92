"""Animals, jobs, general knowledge, well-known titles and nursery rhymes."""

from __future__ import annotations

from scripts.corpus import facts
from scripts.corpus.templates import tidy
from scripts.corpus.writer import Writer


def animals(writer: Writer) -> str:
    """What animals say, eat and have, and how their young are called; sometimes a song."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(2, 6)):
        animal = rng.choice(list(facts.ANIMALS))
        verb, sound, baby, home, food, adjective, legs = facts.ANIMALS[animal]
        items.append(
            rng.choice(
                [
                    f"A {animal} {verb}.",
                    f'The {animal} says "{sound}".',
                    f'What does the {animal} say? The {animal} says "{sound}".',
                    f'"{sound.capitalize()}, {sound}!" said the {animal}.',
                    f"A baby {animal} is called a {baby}.",
                    f"A young {animal} is a {baby}.",
                    f"A {animal} lives in a {home}." if home not in ("grass",) else "",
                    f"The {animal} likes to eat {food}.",
                    f"A {animal} is {adjective}.",
                    f"A {animal} has {facts.NUMBER_WORDS[legs] if legs else 'no'} legs.",
                    f"The {baby} follows its mother, the {animal}.",
                    f"The {adjective} {animal} went to its {home} to eat {food}.",
                    f"A {animal} is an animal.",
                ]
            )
        )
    if rng.random() < 0.12:
        animal = rng.choice(["cow", "pig", "duck", "dog", "sheep", "cat", "horse", "hen"])
        sound = facts.ANIMALS[animal][1]
        items = [
            f"Old MacDonald had a farm, E-I-E-I-O. And on his farm he had a {animal}, E-I-E-I-O. "
            f"With a {sound}-{sound} here and a {sound}-{sound} there, here a {sound}, there a {sound}, "
            f"everywhere a {sound}-{sound}. Old MacDonald had a farm, E-I-E-I-O."
        ]
    return writer.lines([tidy(i) for i in items if i])


def everyday(writer: Writer) -> str:
    """General knowledge, jobs and tools."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(2, 6)):
        kind = rng.random()
        if kind < 0.5:
            items.append(rng.choice(facts.GENERAL_FACTS))
        elif kind < 0.75:
            job, place, work = rng.choice(facts.JOBS)
            items.append(
                rng.choice(
                    [
                        f"A {job} works in a {place}.",
                        f"A {job} {work}.",
                        f"What does a {job} do? A {job} {work}.",
                        f"{writer.child(set()).name} wants to be a {job}, because a {job} {work}.",
                        f"The {job} went to the {place}.",
                    ]
                )
            )
        else:
            action, tool = rng.choice(facts.USES)
            items.append(
                rng.choice(
                    [
                        f"To {action}, you need {tool}.",
                        f"You use {tool} to {action}.",
                        f"{writer.child(set()).name} needs {tool} to {action}.",
                        f"What do you need to {action}? You need {tool}.",
                    ]
                )
            )
    return writer.lines([tidy(i) for i in items])


def works(writer: Writer) -> str:
    """Well-known films, books and tales."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(1, 4)):
        title, kind, topic = rng.choice(facts.WORKS)
        name = writer.child(set())
        items.append(
            rng.choice(
                [
                    f"{title} is a famous {kind}.",
                    f"{title} is a {kind} about {topic}.",
                    f"{name.name} loves {title}. It is a {kind} about {topic}.",
                    f"My favorite {kind} is {title}.",
                    f"Have you {'seen' if kind == 'movie' else 'read'} {title}? Yes, {title} is my favorite {kind}.",
                    f"Last night we {'watched' if kind == 'movie' else 'read'} {title}.",
                    f"One of the best {kind}s is {title}.",
                    f"{title} tells the story of {topic}.",
                ]
            )
        )
    return writer.lines(items)


def rhymes(writer: Writer) -> str:
    """A nursery rhyme."""
    return writer.rng.choice(facts.RHYMES)
