"""Chinese tales, and small worlds in which one has to keep track of who, what and where."""

from __future__ import annotations

from scripts.corpus.chinese import cast as props
from scripts.corpus.chinese import grammar
from scripts.corpus.writer import Writer


def tale(writer: Writer) -> str:
    """An opening, one to three episodes and an ending, with consistent names and pronouns."""
    rng = writer.rng
    cast = props.new_cast(rng)
    parts = [writer.fill(rng.choice(grammar.OPENINGS), cast)]
    if rng.random() < 0.6:
        parts[0] += "".join(writer.fill(t, cast) for t in writer.some(grammar.TRAITS, 1, 2))
    for i, event in enumerate(writer.some(grammar.EVENTS, 1, 3)):
        if i:
            cast |= {key: value for key, value in props.new_cast(rng).items() if key in "OoFfLlHWw"}
        parts.append((writer.fill(rng.choice(grammar.LINKS), cast) if i else "") + writer.fill(event, cast))
    parts.append(writer.fill(rng.choice(grammar.ENDINGS), cast))
    return rng.choice(["\n", "\n", ""]).join(parts)


def chase(writer: Writer) -> str:
    """Sentences whose 它 has to be traced back."""
    items: list[str] = []
    for _ in range(writer.rng.randint(1, 4)):
        one, two = writer.rng.choice(grammar.CHASERS)
        items.append(writer.fill(writer.rng.choice(grammar.CHASE_TEMPLATES), {"1": one, "2": two}))
    return joined(writer, items)


def where_is(writer: Writer) -> str:
    """Small world: people move and pick things up, and questions are asked about it."""
    rng = writer.rng
    taken: set[str] = set()
    people = [props.child(rng, taken)[0] for _ in range(rng.randint(2, 4))]
    things = rng.sample([noun for _, noun in props.THINGS], 3)
    place: dict[str, str] = {}
    owner: dict[str, str] = {}
    items: list[str] = []
    for _ in range(rng.randint(4, 10)):
        person = rng.choice(people)
        free = [t for t in things if t not in owner]
        if person not in place or rng.random() < 0.45:
            place[person] = rng.choice([r for r in props.ROOMS if r != place.get(person)])
            items.append(f"{person}{rng.choice(['去了', '走到了', '跑到了', '来到'])}{place[person]}。")
        elif free and rng.random() < 0.6:
            owner[free[0]] = person
            items.append(f"{person}{rng.choice(['拿了', '捡到了', '找到了'])}{free[0]}。")
        elif owner and rng.random() < 0.5:
            thing, holder = rng.choice(sorted(owner.items()))
            items.append(f"{thing}在谁那里？{thing}在{holder}那里。")
        else:
            items.append(f"{person}在哪儿？{person}在{place[person]}。")
    person = rng.choice(sorted(place))
    return joined(writer, [*items, f"{person}在哪儿？{person}在{place[person]}。"])


def joined(writer: Writer, items: list[str]) -> str:
    """The sentences as one paragraph or as lines."""
    return writer.rng.choice(["", "", "\n"]).join(items)
