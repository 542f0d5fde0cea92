"""The tables of the translation model's card: held-out sentences, and what its cross-attention attends to."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import torch
from transformers import PreTrainedTokenizerFast, T5ForConditionalGeneration

from scripts.corpus.parallel.sentences import Word
from scripts.translator.data import LONGEST, batch, both_ways, sentences

SEED = 2024
AT_ONCE = 100


@dataclass(frozen=True)
class Looks:
    """Shares, 0..1, of shape (layers, heads): how often the source word being translated gets the largest weight."""

    english_to_chinese: torch.Tensor
    chinese_to_english: torch.Tensor


@dataclass(frozen=True)
class Answer:
    """A sentence, its greedy translation, and the only one that counts as correct."""

    source: str
    said: str
    wanted: str

    @property
    def right(self) -> bool:
        return self.said == self.wanted


@torch.no_grad()
def translate(model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, texts: list[str]) -> list[str]:
    """Translate greedily."""
    given = tokenizer(texts, padding=True, return_tensors="pt")
    # transformers 5.23 describes what `generate` needs by a protocol that its own models do not meet.
    ids = model.generate(  # pyright: ignore[reportAttributeAccessIssue]
        input_ids=given["input_ids"], attention_mask=given["attention_mask"], max_new_tokens=LONGEST, do_sample=False
    )
    return [str(text) for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]


def answers(model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, *, count: int) -> list[Answer]:
    """``count`` held-out sentences in English, then the same ones in Chinese."""
    texts = both_ways(sentences(Random(SEED), count, held=True))
    said: list[str] = []
    for first in range(0, len(texts), AT_ONCE):
        said += translate(model, tokenizer, [source for source, _ in texts[first : first + AT_ONCE]])
    return [Answer(source, translation, target) for translation, (source, target) in zip(said, texts, strict=True)]


def exact(model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, *, count: int) -> tuple[int, int]:
    """How many of ``count`` held-out sentences are translated exactly: into Chinese, into English."""
    right = [answer.right for answer in answers(model, tokenizer, count=count)]
    return sum(right[:count]), sum(right[count:])


@torch.no_grad()
def alignment(model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, *, count: int) -> Looks:
    """Measure the alignment on nouns and verbs of held-out sentences, where the decoder is about to write their first
    token.

    The weights of the tokens of one source word are added up.
    """
    pairs = sentences(Random(SEED), count, held=True)
    shares: list[torch.Tensor] = []
    for into_chinese in (True, False):
        hits: list[torch.Tensor] = []
        for pair in pairs:
            source, target = (pair.english, pair.chinese) if into_chinese else (pair.chinese, pair.english)
            texts = pair.english_text, pair.chinese_text
            source_text, target_text = texts if into_chinese else texts[::-1]
            given = batch(tokenizer, [(source_text, target_text)])
            weights = torch.stack(model(**given, output_attentions=True).cross_attentions)[:, 0]
            source_at, target_at = (
                _words_of_tokens(tokenizer, t, w) for t, w in ((source_text, source), (target_text, target))
            )
            hits += _hits(weights, source, target, source_at, target_at)
        shares.append(torch.stack(hits).float().mean(0))
    return Looks(*shares)


def _hits(
    weights: torch.Tensor,
    source: tuple[Word, ...],
    target: tuple[Word, ...],
    source_at: list[int],
    target_at: list[int],
) -> list[torch.Tensor]:
    """For each noun and verb of the target, per layer and head, whether its source word gets the most weight."""
    owner = torch.tensor(source_at)
    per_word = torch.stack([weights[..., : len(owner)][..., owner == i].sum(-1) for i in range(len(source))], dim=-1)
    hits: list[torch.Tensor] = []
    for i, word in enumerate(target):
        partners = [j for j, other in enumerate(source) if other.meaning == word.meaning and other.kind == word.kind]
        if word.kind != "other" and len(partners) == 1 and i in target_at:
            # The logits that write token t are those of the decoder's position t: its input is shifted by one.
            hits.append(per_word[:, :, target_at.index(i)].argmax(-1) == partners[0])
    return hits


def _words_of_tokens(tokenizer: PreTrainedTokenizerFast, text: str, words: tuple[Word, ...]) -> list[int]:
    """The index of the word that each token belongs to; -1 for the token at the end."""
    places: list[tuple[int, int]] = []
    end = 0
    for word in words:
        start = text.lower().index(word.text.lower(), end)
        end = start + len(word.text)
        places.append((start, end))
    found: list[int] = []
    for start, stop in tokenizer(text, return_offsets_mapping=True)["offset_mapping"]:
        inside = [i for i, (first, last) in enumerate(places) if start < last and stop > first]
        found.append(inside[0] if inside and stop > start else -1)
    return found
