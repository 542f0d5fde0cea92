"""Pairs of passages for the encoder, with some of their tokens hidden."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import torch
from transformers import PreTrainedTokenizerFast

from scripts.corpus.__main__ import DATA
from scripts.corpus.chinese import tales as chinese_tales
from scripts.corpus.chinese import world as chinese_world
from scripts.corpus.files import read_documents
from scripts.corpus.kinds.capitals import capitals
from scripts.corpus.kinds.order import order
from scripts.corpus.kinds.tales import story, who_did_what
from scripts.corpus.kinds.words import opposites
from scripts.corpus.kinds.world import animals, everyday
from scripts.corpus.poems import poem
from scripts.corpus.practice.names import chinese_gifts, english_gifts
from scripts.corpus.practice.pronouns import chinese_animals, english_animals
from scripts.corpus.writer import Writer
from scripts.train.data import VALIDATION_EVERY

SENTENCE = re.compile(r".+?(?:[.!?。！？；](?![\w.])[\"”]?|\n|$)\s*", re.DOTALL)
PACKED = ("stories", "books")
LONGEST = 48  # tokens of a pair
HIDDEN = 0.15  # share of the tokens that are to be predicted
IGNORED = -100


Source = str | Callable[[Writer], str]  # a part in the repository, or a kind of text
# share of the pairs, source, and whether its texts tell a story, in which what comes next depends on what came before
ENGLISH: tuple[tuple[float, Source, bool], ...] = (
    (30, story, True),
    (16, "stories", True),
    (20, "books", True),
    (5, who_did_what, False),
    (6, capitals, False),
    (4, opposites, False),
    (4, animals, False),
    (4, english_gifts, False),
    (4, english_animals, False),
    (4, order, False),
    (4, everyday, False),
)
CHINESE: tuple[tuple[float, Source, bool], ...] = (
    (40, chinese_tales.tale, True),
    (16, poem, True),
    (8, chinese_world.capitals, False),
    (6, chinese_world.opposites, False),
    (6, chinese_world.animals, False),
    (4, chinese_world.order, False),
    (4, chinese_world.things, False),
    (6, chinese_world.sayings, False),
    (6, chinese_gifts, False),
    (5, chinese_animals, False),
)
LANGUAGES = (ENGLISH, CHINESE)


@dataclass(frozen=True)
class Example:
    """Two passages; ``follows`` says whether the second one came next in its text."""

    first: str
    second: str
    follows: bool


class Passages:
    """Texts generated as they are drawn, and those in the repository: either the training or the held-out ones."""

    def __init__(self, *, held: bool) -> None:
        self.packed: dict[str, list[list[str]]] = {}
        for part in PACKED:
            documents = read_documents(DATA / f"{part}.txt.xz")
            chosen = [text for i, text in enumerate(documents) if (i % VALIDATION_EVERY == 0) == held]
            self.packed[part] = [found for text in chosen if len(found := sentences(text)) > 1]

    def draw(self, rng: Random) -> Example:
        """Draw one pair; in half of the cases the second passage is not the next one, but from any text of its
        language.

        If a text is a list of facts, in which any fact may come next, that text is of another kind. If it tells a
        story, the passages are longer, so that its characters are mostly named in both.
        """
        language = rng.choice(LANGUAGES)
        weights = [weight for weight, *_ in language]
        _, source, tells = rng.choices(language, weights)[0]
        least = 2 if tells else 1
        here = self._text(source, rng)
        start = rng.randrange(len(here) - 1)
        middle = min(start + rng.randint(least, 2), len(here) - 1)
        first, second = here[start:middle], here[middle : middle + rng.randint(least, 2)]
        follows = rng.random() < 0.5
        if not follows:
            others = [0 if other is source and not tells else weight for weight, other, _ in language]
            other = self._text(rng.choices(language, others)[0][1], rng)
            at = rng.randrange(len(other))
            second = other[at : at + rng.randint(least, 2)]
        return Example("".join(first).strip(), "".join(second).strip(), follows)

    def _text(self, source: Source, rng: Random) -> list[str]:
        if isinstance(source, str):
            return rng.choice(self.packed[source])
        writer = Writer(rng.getrandbits(40))
        while len(found := sentences(source(writer))) < 2:
            pass
        return found


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with its punctuation and the space after it."""
    return [found[0] for found in SENTENCE.finditer(text) if found[0].strip()]


def batch(tokenizer: PreTrainedTokenizerFast, examples: list[Example], rng: Random) -> dict[str, torch.Tensor]:
    """``input_ids`` with tokens hidden, ``labels`` where they were, ``next_sentence_label`` (0: it follows).

    Of the tokens to be predicted, 80 % are masked, 10 % replaced by random ones, and 10 % unchanged (Devlin et al.
    2018, arXiv:1810.04805).
    """
    given = tokenizer(
        [example.first for example in examples],
        [example.second for example in examples],
        truncation=True,
        max_length=LONGEST,
        padding=True,
        return_tensors="pt",
        return_special_tokens_mask=True,
    )
    ids, special = given["input_ids"].clone(), given.pop("special_tokens_mask").bool()
    generator = torch.Generator().manual_seed(rng.getrandbits(40))
    hidden = (torch.rand(ids.shape, generator=generator) < HIDDEN) & ~special
    how = torch.rand(ids.shape, generator=generator)
    labels = ids.masked_fill(~hidden, IGNORED)
    ids[hidden & (how < 0.8)] = tokenizer.mask_token_id
    swapped = hidden & (how > 0.9)
    ids[swapped] = torch.randint(3, len(tokenizer) - 3, ids.shape, generator=generator)[swapped]
    follows = torch.tensor([0 if example.follows else 1 for example in examples])
    return {
        "input_ids": ids,
        "attention_mask": given["attention_mask"],
        "token_type_ids": given["token_type_ids"],
        "labels": labels,
        "next_sentence_label": follows,
    }
