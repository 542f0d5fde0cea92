"""Which kinds of texts the generated part holds, and how much of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scripts.corpus.kinds.capitals import capitals
from scripts.corpus.kinds.lesson import facts_in_a_story
from scripts.corpus.kinds.looking_back import dialogue, lookup, repeat_words, shopping
from scripts.corpus.kinds.order import order, sums
from scripts.corpus.kinds.tales import chase, story, where_is, who_did_what
from scripts.corpus.kinds.words import categories, colours, language_drill, opposites
from scripts.corpus.kinds.world import animals, everyday, rhymes, works
from scripts.corpus.writer import Writer

# How much of the text each kind should get, relative to the others. Stories get somewhat more: see `documents`.
KINDS: tuple[tuple[float, Callable[[Writer], str]], ...] = (
    (46, story),
    (6, who_did_what),
    (4, where_is),
    (3, chase),
    (10, capitals),
    (3.5, opposites),
    (2.5, animals),
    (2.5, order),
    (2.5, sums),
    (3, categories),
    (2, everyday),
    (1.5, language_drill),
    (1, works),
    (0.6, rhymes),
    (1.6, colours),
    (3, facts_in_a_story),
    (3.2, repeat_words),
    (1.6, lookup),
    (1.4, shopping),
    (1.2, dialogue),
)


def documents(seed: int) -> Iterator[str]:
    """Documents without end; the same seed gives the same ones.

    Half of them are drawn by weight, the others are of the kind that lags most behind its share of the characters. So
    no kind falls behind, and stories, the longest, come to 53 % of the text instead of 46 %.
    """
    writer = Writer(seed)
    weights = [weight for weight, _ in KINDS]
    total, written = sum(weights), [1.0] * len(weights)
    while True:
        spent = sum(written)
        behind = [weight / total - size / spent for weight, size in zip(weights, written, strict=True)]
        index = behind.index(max(behind))
        if writer.rng.random() < 0.5:
            index = writer.rng.choices(range(len(weights)), weights)[0]
        text = KINDS[index][1](writer)
        written[index] += len(text)
        yield text
