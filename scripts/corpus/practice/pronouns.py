"""An animal is named, and later its pronoun does what only that animal does."""

from __future__ import annotations

from scripts.corpus import facts
from scripts.corpus.chinese.facts import ANIMALS as CHINESE_ANIMALS
from scripts.corpus.chinese.tales import joined
from scripts.corpus.writer import Writer

ENGLISH = [
    "The {0} saw the {1}. It {verb}.",
    "The {0} is {quality}, so it {verb}.",
    "The {0} sat near the {1}, and then it {verb}.",
    "The {0} is behind the {1}. It {verb}.",
    "The {0} met a {1}. When the {0} is {quality}, it {verb}.",
    "A {0} came in. It {verb}. The {1} ran away.",
    "When you see a {0}, it {verb}.",
]
CHINESE = [
    "{0}看见了{1}，它{verb}。",
    "{0}很{quality}，它{verb}。",
    "{0}坐在{1}旁边，后来它{verb}。",
    "{0}在{1}后面，它{verb}。",
    "来了一{measure}{0}，它{verb}，{1}跑了。",
    "{0}{quality}的时候，它{verb}。",
]
QUALITIES, CHINESE_QUALITIES = ("happy", "hungry", "angry", "awake"), ("高兴", "饿", "生气", "着急")


def english_animals(writer: Writer) -> str:
    """Sentences in which "it" is the animal named first."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(3, 8)):
        one, other = rng.sample(list(facts.ANIMALS), 2)
        template = rng.choice(ENGLISH)
        items.append(template.format(one, other, verb=facts.ANIMALS[one][0], quality=rng.choice(QUALITIES)))
    return writer.lines(items)


def chinese_animals(writer: Writer) -> str:
    """Sentences in which 它 is the animal named first."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(3, 8)):
        one, other = rng.sample(list(CHINESE_ANIMALS), 2)
        measure, verb, *_ = CHINESE_ANIMALS[one]
        quality = rng.choice(CHINESE_QUALITIES)
        items.append(rng.choice(CHINESE).format(one, other, verb=verb, quality=quality, measure=measure))
    return joined(writer, items)
