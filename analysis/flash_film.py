"""FlashAttention's film for a captured head: its scores and values, one row's sums, and the traffic of longer texts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention.flash_blocks import Blocks, Order, plain, tiled
from attention.zoo.head import Head
from model_runner.errors import NotSeparable

N_ = str  # marks a text for Babel without translating it here

TWO_TEXTS = N_("its softmax weighs the keys of two texts, and this film draws those of one")
SINK_A_QUERY = N_("every query of its heads has a sink of its own, and this film draws one for the whole head")


@dataclass(frozen=True, eq=False)
class FlashFilm:
    """The film's data. ``scores`` are the head's own before the softmax, −∞ where masked.

    ``size`` is the bytes per number in the model, ``sink`` a learned sink's logit.
    """

    scores: Float[np.ndarray, "tokens tokens"]
    v: Float[np.ndarray, "tokens d_value"]
    sink: float | None
    d_head: int
    size: int
    blocks: Blocks
    order: Order


@dataclass(frozen=True)
class Sums:
    """A row after a tile that ends before key ``stop``: its maximum, and the sum of exponentials relative to it."""

    stop: int
    largest: float
    total: float


@dataclass(frozen=True)
class Longer:
    """Bytes that one head moves for a text of this length: with the map in memory, and by tiles."""

    n_tokens: int
    plain: int
    tiled: int


def flash_film(head: Head, blocks: Blocks, order: Order, *, size: int) -> FlashFilm:
    """The head for the film. Raises NotSeparable for a head with a separate sink for every query."""
    if isinstance(head.sink, Tensor):
        raise NotSeparable(reason=SINK_A_QUERY)
    return FlashFilm(head.scores.numpy(), head.v.numpy(), head.sink, head.q.shape[1], size, blocks, order)


def row_sums(film: FlashFilm, row: int) -> list[Sums]:
    """The row's sums after each block with visible keys; a sink is not included."""
    found: list[Sums] = []
    largest, total = -math.inf, 0.0
    for start in range(0, len(film.scores), film.blocks.columns):
        scores = film.scores[row, start : start + film.blocks.columns]
        if np.isneginf(scores).all():
            continue
        higher = max(largest, float(scores.max()))
        total = total * math.exp(largest - higher) + float(np.exp(scores - higher).sum())
        largest = higher
        found.append(Sums(start + len(scores), largest, total))
    return found


def longer(film: FlashFilm, lengths: tuple[int, ...], blocks: Blocks, *, causal: bool) -> tuple[Longer, ...]:
    """The same head on longer texts, with these blocks."""
    d, d_value = film.d_head, film.v.shape[1]

    def of(n_tokens: int) -> Longer:
        by_tiles = tiled(n_tokens, d, d_value, blocks, film.order, causal=causal)
        return Longer(n_tokens, film.size * plain(n_tokens, d, d_value).moved, film.size * by_tiles.moved)

    return tuple(map(of, lengths))
