"""Longer contexts by slower rotation: each scaling maps the frequencies θ_i to new ones.

All take the θ_i of an unscaled rotation, decreasing, in radians per token (:func:`attention.rotary.frequencies`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

Theta = Float[Tensor, "pairs"]


@dataclass(frozen=True, eq=False)
class ScaledFrequencies:
    """New frequencies, and the factor that scales the rotated queries and keys (scores by its square)."""

    theta: Float[Tensor, "pairs"]
    factor: float = 1.0


def linear(theta: Theta, factor: float) -> ScaledFrequencies:
    """Every position divided by ``factor`` (position interpolation, Chen et al. 2023, arXiv:2306.15595)."""
    return ScaledFrequencies(theta / factor)


def ntk(theta: Theta, factor: float) -> ScaledFrequencies:
    """The fastest pair unchanged, the slowest divided by ``factor``, those in between by its powers.

    This multiplies the base by factor^(d/(d − 2)) ("NTK-aware" scaling, bloc97 2023; Peng et al. 2023,
    arXiv:2309.00071, section 3.1). A single pair is unchanged.
    """
    last = max(1, len(theta) - 1)
    return ScaledFrequencies(theta * factor ** (-torch.arange(len(theta), dtype=theta.dtype) / last))


def dynamic_ntk(theta: Theta, factor: float, *, tokens: int, context: int) -> ScaledFrequencies:
    """NTK-aware scaling that starts beyond ``context`` tokens and grows with the text (emozilla 2023)."""
    return ntk(theta, factor * max(tokens, context) / context - (factor - 1))


def yarn(
    theta: Theta,
    factor: float,
    *,
    base: float,
    context: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
    attention_factor: float | None = None,
) -> ScaledFrequencies:
    """Fast pairs unchanged, slow ones divided by ``factor``, a ramp in between (Peng et al. 2023, arXiv:2309.00071).

    Fast is more than ``beta_fast`` turns within the original ``context``, slow fewer than ``beta_slow``. The attention
    factor is 0.1·ln(factor) + 1 unless given. ``truncate`` widens the ramp to whole pairs, as in the authors' code.
    """
    d_rot = 2 * len(theta)
    low, high = (
        d_rot * math.log(context / (2 * math.pi * turns)) / (2 * math.log(base)) for turns in (beta_fast, beta_slow)
    )
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, d_rot - 1)
    width = high - low if high != low else 1e-3  # avoids a division by 0
    slowed = ((torch.arange(len(theta), dtype=theta.dtype) - low) / width).clamp(0, 1)
    if attention_factor is None:
        attention_factor = yarn_factor(factor)
    return ScaledFrequencies(theta / factor * slowed + theta * (1 - slowed), attention_factor)


def yarn_factor(factor: float, mscale: float = 1.0) -> float:
    """YaRN's scaling of queries and keys: 0.1·mscale·ln(factor) + 1 (arXiv:2309.00071, eq. 22)."""
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def llama3(
    theta: Theta, factor: float, *, low_freq_factor: float, high_freq_factor: float, context: int
) -> ScaledFrequencies:
    """Pairs with many turns unchanged, those with few divided by ``factor``, and linear in the number of turns in
    between.

    Many is more than ``high_freq_factor`` turns within the original ``context``, few is less than ``low_freq_factor``
    (Llama 3.1, arXiv:2407.21783; the formula is in Meta's llama-models).
    """
    turns = context * theta / (2 * math.pi)
    kept = ((turns - low_freq_factor) / (high_freq_factor - low_freq_factor)).clamp(0, 1)
    return ScaledFrequencies(theta * (kept + (1 - kept) / factor))


def longrope(theta: Theta, factors: Sequence[float], *, factor: float = 1.0, context: int) -> ScaledFrequencies:
    """Each pair divided by a factor found by search, vectors scaled by √(1 + ln(factor)/ln(context)).

    ``factors`` is the list for short or for long texts, ``factor`` the new context over the original ``context``
    (LongRoPE, Ding et al. 2024, arXiv:2402.13753).
    """
    stretched = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(context))
    return ScaledFrequencies(theta / torch.tensor(factors, dtype=theta.dtype), stretched)


def proportional(theta: Theta, share: float, factor: float = 1.0) -> ScaledFrequencies:
    """Rotate only the fastest ``share`` of the pairs, divided by ``factor``; the others are not rotated (Gemma 4)."""
    turning = int(share * len(theta))
    return ScaledFrequencies(torch.cat([theta[:turning], torch.zeros_like(theta[turning:])]) / factor)
