"""The tables of the encoder's card, on held-out passages."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import torch
from transformers import BertForPreTraining, PreTrainedTokenizerFast

from scripts.encoder.data import IGNORED, Example, Passages, batch

SEED = 2024
AT_ONCE = 50
KINDS = ("separator", "other passage", "token before", "token after")


@dataclass(frozen=True)
class Scores:
    """Accuracies, 0..1: for hidden tokens in English and in Chinese, and for pairs."""

    english: float
    chinese: float
    pairs: float


@torch.no_grad()
def accuracy(model: BertForPreTraining, tokenizer: PreTrainedTokenizerFast, examples: list[Example]) -> Scores:
    """How many hidden tokens are the likeliest ones, and how many pairs are classified correctly."""
    rng = Random(SEED)
    right: dict[bool, list[float]] = {True: [], False: []}
    pairs: list[float] = []
    for first in range(0, len(examples), AT_ONCE):
        some = examples[first : first + AT_ONCE]
        given = batch(tokenizer, some, rng)
        labels, follows = given.pop("labels"), given.pop("next_sentence_label")
        out = model(**given)
        for i, example in enumerate(some):
            at = labels[i] != IGNORED
            hits = out.prediction_logits[i][at].argmax(-1) == labels[i][at]
            right[not example.first.isascii()] += hits.float().tolist()
        pairs += (out.seq_relationship_logits.argmax(-1) == follows).float().tolist()
    mean = [sum(hits) / max(1, len(hits)) for hits in (right[False], right[True], pairs)]
    return Scores(*mean)


@torch.no_grad()
def looks(model: BertForPreTraining, tokenizer: PreTrainedTokenizerFast, examples: list[Example]) -> torch.Tensor:
    """Mean weight (kinds, layers, heads) on what ``KINDS`` names, over all queries except [CLS] and [SEP]."""
    sums = []
    for example in examples:
        given = tokenizer(example.first, example.second, truncation=True, max_length=64, return_tensors="pt")
        weights = torch.stack(model(**given, output_attentions=True).attentions)[:, 0]
        ids, types = given["input_ids"][0], given["token_type_ids"][0]
        words = (ids != tokenizer.cls_token_id) & (ids != tokenizer.sep_token_id)
        length = len(ids)
        place = torch.arange(length)
        separator = (ids == tokenizer.sep_token_id).expand(length, length)
        other = (types[:, None] != types[None, :]) & words[None, :]
        before, after = place[None, :] == place[:, None] - 1, place[None, :] == place[:, None] + 1
        seen = [(weights * mask).sum(-1)[..., words].mean(-1) for mask in (separator, other, before, after)]
        sums.append(torch.stack(seen))
    return torch.stack(sums).mean(0)


def held_out(passages: Passages, count: int) -> list[Example]:
    """``count`` pairs, always the same."""
    rng = Random(SEED)
    return [passages.draw(rng) for _ in range(count)]
