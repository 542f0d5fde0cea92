"""Attention with every intermediate matrix kept, small enough to be followed number by number.

From a few tokens' vectors to a layer's output: X → Q, K, V → QKᵀ → ÷√d → mask → softmax → ·V → concat → W_O (Vaswani et
al. 2017, section 3.2, arXiv:1706.03762).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class ExampleNumbers:
    """The input: the tokens' vectors and the four projections. Each head has a block of columns of W_Q, W_K and W_V."""

    x: Float[Tensor, "tokens d_model"]
    w_q: Float[Tensor, "d_model d_model"]
    w_k: Float[Tensor, "d_model d_model"]
    w_v: Float[Tensor, "d_model d_model"]
    w_o: Float[Tensor, "d_model d_model"]


@dataclass(frozen=True, eq=False)
class ExampleSteps:
    """The results. ``masked`` is −inf in masked cells; everything else is finite."""

    q: Float[Tensor, "heads tokens d_head"]
    k: Float[Tensor, "heads tokens d_head"]
    v: Float[Tensor, "heads tokens d_head"]
    scores: Float[Tensor, "heads queries keys"]
    scaled: Float[Tensor, "heads queries keys"]
    masked: Float[Tensor, "heads queries keys"]
    weights: Float[Tensor, "heads queries keys"]
    output: Float[Tensor, "heads queries d_head"]
    concat: Float[Tensor, "queries d_model"]
    added: Float[Tensor, "queries d_model"]


def small_attention(
    numbers: ExampleNumbers,
    *,
    n_heads: int = 1,
    n_kv_heads: int | None = None,
    causal: bool = True,
    scaled: bool = True,
) -> ExampleSteps:
    """Every step, each computed from the previous one; ``scaled`` divides by √d_head.

    ``n_kv_heads`` below ``n_heads`` uses the first columns of W_K and W_V, and repeats each key/value head for the
    query heads of its group (GQA, Ainslie et al. 2023, arXiv:2305.13245); 1 is MQA, None one each. Raises ValueError if
    the heads do not divide d.
    """
    n_tokens, d_model = numbers.x.shape
    n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
    if d_model % n_heads or n_heads % n_kv_heads:
        raise ValueError(f"{d_model} dimensions for {n_heads} heads, {n_kv_heads} of keys and values")
    width = d_model // n_heads * n_kv_heads
    q = _by_head(numbers.x @ numbers.w_q, n_heads)
    k, v = (
        _by_head(numbers.x @ w[:, :width], n_kv_heads).repeat_interleave(n_heads // n_kv_heads, dim=0)
        for w in (numbers.w_k, numbers.w_v)
    )
    scores = q @ k.transpose(-1, -2)
    divided = scores / math.sqrt(d_model // n_heads) if scaled else scores
    future = torch.ones(n_tokens, n_tokens, dtype=torch.bool).triu(1)
    masked = divided.masked_fill(future, -math.inf) if causal else divided
    exponents = torch.exp(masked - masked.amax(-1, keepdim=True))
    weights = exponents / exponents.sum(-1, keepdim=True)
    output = weights @ v
    concat = output.transpose(0, 1).reshape(n_tokens, d_model)
    return ExampleSteps(q, k, v, scores, divided, masked, weights, output, concat, concat @ numbers.w_o)


def usual_numbers(n_tokens: int, d_model: int) -> ExampleNumbers:
    """Initial numbers, multiples of one half for mental arithmetic; the same ones for every size.

    Drawn once: a larger table starts with the smaller one, so that another token changes none of the others.
    """
    drawn = torch.randint(-2, 3, (5, LARGEST, LARGEST), generator=torch.Generator().manual_seed(SEED)).double() / 2
    x, *weights = (table[:, :d_model] for table in drawn)
    return ExampleNumbers(x[:n_tokens], *(w[:d_model] for w in weights))


LARGEST = 8  # tokens, and dimensions
SEED = 7


def _by_head(rows: Float[Tensor, "tokens d_model"], n_heads: int) -> Float[Tensor, "heads tokens d_head"]:
    return rows.reshape(len(rows), n_heads, -1).transpose(0, 1)
