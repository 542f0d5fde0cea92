"""Entropy and KL divergence of distributions along the last axis."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor


def entropy(shares: Float[Tensor, "*rows n"]) -> Float[Tensor, "*rows"]:
    """−Σ p log₂ p, in bits: 0 for a certain outcome, log₂ n for n equal ones; 0 · log 0 is 0."""
    return -torch.special.xlogy(shares, shares).sum(-1) / math.log(2)


def kl(before: Float[Tensor, "*rows n"], after: Float[Tensor, "*rows n"]) -> Float[Tensor, "*rows"]:
    """KL(before ‖ after) in bits, of natural log-probabilities; outcomes that were impossible before add nothing."""
    seen = before.isfinite()
    return torch.where(seen, before.exp() * (before - after), 0.0).sum(-1).clamp(min=0.0) / math.log(2)
