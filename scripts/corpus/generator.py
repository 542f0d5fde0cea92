"""Which kinds of texts the generated parts hold, and how much of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scripts.corpus import poems
from scripts.corpus.chinese import tales as chinese_tales
from scripts.corpus.chinese import world as chinese_world
from scripts.corpus.kinds.capitals import capitals
from scripts.corpus.kinds.lesson import facts_in_a_story
from scripts.corpus.kinds.looking_back import dialogue, lookup, repeat_words, shopping
from scripts.corpus.kinds.order import order, sums
from scripts.corpus.kinds.tales import chase, story, where_is, who_did_what
from scripts.corpus.kinds.words import categories, colours, language_drill, opposites
from scripts.corpus.kinds.world import animals, everyday, rhymes, works
from scripts.corpus.parallel.texts import translations, word_list
from scripts.corpus.practice import lists
from scripts.corpus.practice.code import code
from scripts.corpus.practice.names import chinese_gifts, english_gifts
from scripts.corpus.practice.pronouns import chinese_animals, english_animals
from scripts.corpus.practice.sums import chinese_sums
from scripts.corpus.practice.sums import sums as lines_of_sums
from scripts.corpus.writer import Writer

Kinds = tuple[tuple[float, Callable[[Writer], str]], ...]

# How much of the text each kind should get, relative to the others. Stories get somewhat more: see `documents`.
KINDS: Kinds = (
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
PRACTICE: Kinds = ((34, english_gifts), (24, lines_of_sums), (12, english_animals), (14, code), (16, repeat_words))
CHINESE: Kinds = (
    (34, chinese_tales.tale),
    (4, chinese_tales.chase),
    (3, chinese_tales.where_is),
    (13, chinese_world.capitals),
    (6, chinese_world.opposites),
    (5, chinese_world.animals),
    (4, chinese_world.order),
    (3, chinese_world.things),
    (4, chinese_world.sayings),
    (9, chinese_gifts),
    (5, chinese_sums),
    (4, chinese_animals),
    (5, lists.chinese_repeats),
    (2, lists.chinese_lookup),
    (2, lists.chinese_dialogue),
    (8, poems.poem),
)
PARALLEL: Kinds = ((85, translations), (15, word_list))


def documents(seed: int, kinds: Kinds | None = None) -> Iterator[str]:
    """Documents without end, of ``KINDS`` or of other kinds; the same seed gives the same ones.

    Half of them are drawn by weight, the others are of the kind that lags most behind its share of the characters. So
    no kind falls behind, and stories, the longest, come to 53 % of the text instead of 46 %.
    """
    kinds = KINDS if kinds is None else kinds
    writer = Writer(seed)
    weights = [weight for weight, _ in kinds]
    total, written = sum(weights), [1.0] * len(weights)
    while True:
        spent = sum(written)
        behind = [weight / total - size / spent for weight, size in zip(weights, written, strict=True)]
        index = behind.index(max(behind))
        if writer.rng.random() < 0.5:
            index = writer.rng.choices(range(len(weights)), weights)[0]
        text = kinds[index][1](writer)
        written[index] += len(text)
        yield text
