"""Small attention as it runs in practice: two texts of different lengths in one batch, and a step with a cache."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.small_attention import ExampleNumbers

Side = Literal["right", "left"]
HIDDEN = -1e9  # replaces −inf where a row must stay finite
DROPPED = 0.5  # of the weights; training uses 0.1 or less, which would not show with a few tokens
SEED = 0  # of the random choice of dropped weights


@dataclass(frozen=True, eq=False)
class BatchedSteps:
    """Every step for each text; ``real`` marks tokens that are not padding, ``keep`` unmasked cells.

    For a step with a cache, ``queries`` are the new tokens and ``keys`` those of the cache and the new ones.
    ``dropped`` are the weights that multiply the values, without dropout all of them.
    """

    x: Float[Tensor, "batch queries d_model"]
    real: Bool[Tensor, "batch keys"]
    keep: Bool[Tensor, "batch 1 queries keys"]
    q: Float[Tensor, "batch heads queries d_head"]
    k: Float[Tensor, "batch heads keys d_head"]
    v: Float[Tensor, "batch heads keys d_head"]
    scores: Float[Tensor, "batch heads queries keys"]
    scaled: Float[Tensor, "batch heads queries keys"]
    masked: Float[Tensor, "batch heads queries keys"]
    weights: Float[Tensor, "batch heads queries keys"]
    dropped: Float[Tensor, "batch heads queries keys"]
    output: Float[Tensor, "batch heads queries d_head"]
    added: Float[Tensor, "batch queries d_model"]


def padded_batch(
    numbers: ExampleNumbers,
    short: int,
    *,
    n_heads: int = 1,
    causal: bool = True,
    side: Side = "right",
    fill: float = -math.inf,
    dropout: bool = False,
) -> BatchedSteps:
    """A batch of the text and its first ``short`` tokens, padded with zeros on one side.

    Masked cells get ``fill`` before the softmax. With −inf a row without any key becomes NaN. ``dropout`` sets weights
    to 0 with probability ``DROPPED`` and divides the others by 1 − ``DROPPED``.
    """
    n, d = numbers.x.shape
    x, real = torch.zeros(2, n, d, dtype=numbers.x.dtype), torch.zeros(2, n, dtype=torch.bool)
    for row, length in enumerate((n, short)):
        place = slice(0, length) if side == "right" else slice(n - length, n)
        x[row, place], real[row, place] = numbers.x[:length], True
    keep = real[:, None, None, :].expand(2, 1, n, n)
    if causal:
        keep = keep & torch.ones(n, n, dtype=torch.bool).tril()
    return _steps(numbers, x, x, real, keep, n_heads, fill, dropout=dropout)


def cached_step(numbers: ExampleNumbers, n_cache: int, *, n_heads: int = 1) -> BatchedSteps:
    """What is computed for the tokens from ``n_cache`` on, with keys and values of the others cached.

    The mask is (n_new, n_cache + n_new): the last rows of the square one.
    """
    n = len(numbers.x)
    keep = torch.ones(n, n, dtype=torch.bool).tril()[n_cache:]
    real = torch.ones(1, n, dtype=torch.bool)
    return _steps(numbers, numbers.x[None, n_cache:], numbers.x[None], real, keep[None, None], n_heads, -math.inf)


def _steps(
    numbers: ExampleNumbers,
    x: Tensor,
    read: Tensor,
    real: Tensor,
    keep: Tensor,
    n_heads: int,
    fill: float,
    *,
    dropout: bool = False,
) -> BatchedSteps:
    """Attend with the queries of ``x`` to the keys and values of ``read``."""

    def split(rows: Tensor) -> Tensor:
        return rows.reshape(*rows.shape[:2], n_heads, -1).transpose(1, 2)

    q, k, v = split(x @ numbers.w_q), split(read @ numbers.w_k), split(read @ numbers.w_v)
    scores = q @ k.transpose(-1, -2)
    scaled = scores / math.sqrt(q.shape[-1])
    masked = scaled.masked_fill(~keep, fill)
    weights = masked.softmax(-1)
    dropped = weights
    if dropout:
        kept = torch.rand(weights.shape, generator=torch.Generator().manual_seed(SEED)) >= DROPPED
        dropped = weights * kept / (1 - DROPPED)
    output = dropped @ v
    added = output.transpose(1, 2).reshape(x.shape) @ numbers.w_o
    return BatchedSteps(x, real, keep, q, k, v, scores, scaled, masked, weights, dropped, output, added)
