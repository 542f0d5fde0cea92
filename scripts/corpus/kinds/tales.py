"""Short stories, and small worlds in which one has to keep track of who, what and where."""

from __future__ import annotations

from scripts.corpus import grammar
from scripts.corpus.cast import CONTAINERS, OBJECT_NOUNS, ROOMS, STUFF
from scripts.corpus.templates import tidy
from scripts.corpus.writer import Writer


def story(writer: Writer) -> str:
    """An opening, one to three episodes and an ending, with consistent names and pronouns."""
    rng, cast = writer.rng, writer.cast()
    parts = [writer.fill(rng.choice(grammar.OPENINGS), cast)]
    if rng.random() < 0.6:
        parts[0] += " " + " ".join(writer.fill(t, cast) for t in writer.some(grammar.TRAITS, 1, 2))
    for i, event in enumerate(writer.some(grammar.EVENTS, 1, 3)):
        if i:
            cast |= {key: value for key, value in writer.cast().items() if key in "OFGLKW"}
        link = writer.fill(rng.choice(grammar.LINKS), cast) + " " if i else ""
        parts.append(link + writer.fill(event, cast))
    parts.append(writer.fill(rng.choice(grammar.ENDINGS), cast))
    joint = rng.choice(["\n\n", "\n\n", "\n", " "])
    return tidy(joint.join(part.strip().replace("\n", joint) for part in parts))


def who_did_what(writer: Writer) -> str:
    """Sentences in which one child does something for another, so that the names matter."""
    items = []
    for _ in range(writer.rng.randint(2, 5)):
        items.append(tidy(writer.fill(writer.rng.choice(grammar.GIVE_TEMPLATES), writer.cast())))
    if writer.rng.random() < 0.4:
        items.append(passing_game(writer))
    return writer.lines(items)


def passing_game(writer: Writer) -> str:
    """An object goes from hand to hand; at the end somebody asks who has it."""
    rng, cast = writer.rng, writer.cast()
    names = [writer.fill(f"<{key}>", cast) for key in "ABC"]
    thing, holder = cast["O"], names[0]
    items = [f"{holder} had the {thing}."]
    for _ in range(rng.randint(2, 5)):
        receiver = rng.choice([n for n in names if n != holder])
        items.append(f"{holder} gave the {thing} to {receiver}.")
        holder = receiver
    items.append(rng.choice([f"Now {holder} has the {thing}.", f"Who has the {thing}? {holder} has the {thing}."]))
    return " ".join(items)


def where_is(writer: Writer) -> str:
    """Small world: people move, pick things up, and questions are asked about it."""
    rng = writer.rng
    taken: set[str] = set()
    people = [writer.child(taken).name for _ in range(rng.randint(2, 4))]
    things = rng.sample([o for o in OBJECT_NOUNS if " " not in o], 3)
    place: dict[str, str] = {}
    owner: dict[str, str] = {}
    items: list[str] = []
    for _ in range(rng.randint(5, 12)):
        person = rng.choice(people)
        free = [t for t in things if t not in owner]
        if person not in place or rng.random() < 0.45:
            place[person] = rng.choice([r for r in ROOMS if r != place.get(person)])
            items.append(f"{person} {rng.choice(['went', 'moved', 'walked', 'ran'])} to the {place[person]}.")
        elif free and rng.random() < 0.6:
            thing = rng.choice(free)
            owner[thing] = person
            items.append(f"{person} {rng.choice(['took', 'picked up', 'found'])} the {thing}.")
        elif owner and rng.random() < 0.5:
            thing, holder = rng.choice(sorted(owner.items()))
            items.append(f"Who has the {thing}? {holder} has the {thing}.")
        else:
            items.append(f"Where is {person}? {person} is in the {place[person]}.")
    person = rng.choice(sorted(place))
    items.append(
        rng.choice(
            [f"Where is {person}? {person} is in the {place[person]}.", f"Now {person} is in the {place[person]}."]
        )
    )
    return writer.lines(items)


def chase(writer: Writer) -> str:
    """Sentences whose "it" has to be traced back, about chases and about things that do not fit."""
    rng = writer.rng
    items = []
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.8:
            one, two = rng.choice(grammar.CHASERS)
            items.append(tidy(writer.fill(rng.choice(grammar.CHASE_TEMPLATES), {"1": one, "2": two})))
        else:
            cast = writer.cast() | {"s": rng.choice(STUFF), "c": rng.choice(CONTAINERS)}
            items.append(tidy(writer.fill(rng.choice(grammar.FIT_TEMPLATES), cast)))
    return writer.lines(items)
