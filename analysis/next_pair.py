"""Two captures' predictions side by side: by token if they share a vocabulary, else by the token's text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from attention.distributions import kl
from model_runner.capture import Capture

T = TypeVar("T")


@dataclass(frozen=True)
class NextPair:
    """Probabilities of the same tokens on both sides, including the likeliest of both; in decreasing order of
    ``first``.

    None for a token that is not in a side's vocabulary. ``kl`` is KL(first ‖ second) over the whole vocabulary, in
    bits; None for two vocabularies.
    """

    labels: tuple[str, ...]
    first: tuple[float | None, ...]
    second: tuple[float | None, ...]
    kl: float | None


def next_pair(
    captures: tuple[Capture, Capture],
    positions: tuple[int, int],
    vocabularies: tuple[Sequence[str], Sequence[str]],
    *,
    count: int = 5,
) -> NextPair:
    """In float64, after these positions. ``vocabularies`` are each token's text, by id. Raises NoLogits.

    Two vocabularies are the same if all ids have the same text. Otherwise tokens with the same text are counted
    together.
    """
    logs = [
        torch.log_softmax(capture.logits(position).double().cpu(), dim=-1)
        for capture, position in zip(captures, positions, strict=True)
    ]
    one, two = (_drawn(vocabulary, len(log)) for vocabulary, log in zip(vocabularies, logs, strict=True))
    if one == two:
        ids = _union(*(log.topk(min(count, len(log))).indices.tolist() for log in logs))
        shares = [tuple(log[ids].exp().tolist()) for log in logs]
        return NextPair(tuple(one[i] for i in ids), shares[0], shares[1], float(kl(*logs)))
    sums = [_by_text(words, log) for words, log in zip((one, two), logs, strict=True)]
    likely = [sorted(shares, key=lambda text: -shares[text])[:count] for shares in sums]
    labels = _union(*likely)
    found = [tuple(shares.get(text) for text in labels) for shares in sums]
    return NextPair(tuple(labels), found[0], found[1], None)


def _drawn(vocabulary: Sequence[str], n_logits: int) -> list[str]:
    """A name for every logit; a model may have more logits than its tokenizer has tokens."""
    return [*vocabulary[:n_logits], *(f"⟨{i}⟩" for i in range(len(vocabulary), n_logits))]


def _union(first: list[T], second: list[T]) -> list[T]:
    """Each once, in order."""
    return [*first, *(one for one in second if one not in first)]


def _by_text(words: Sequence[str], log: Float[Tensor, "vocab"]) -> dict[str, float]:
    """The total probability of the tokens with each text."""
    found: dict[str, float] = {}
    for text, share in zip(words, log.exp().tolist(), strict=True):
        found[text] = found.get(text, 0.0) + share
    return found
