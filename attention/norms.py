"""Norms of rows of numbers, without gain and bias, each over another axis."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

EPSILON = 1e-6


def layer_norm(x: Float[Tensor, "rows d"]) -> Float[Tensor, "rows d"]:
    """Each row less its mean, over its standard deviation (Ba et al. 2016, arXiv:1607.06450)."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + EPSILON).sqrt()


def rms_norm(x: Float[Tensor, "rows d"], epsilon: float = EPSILON) -> Float[Tensor, "rows d"]:
    """Each row over its root mean square; its mean stays (Zhang & Sennrich 2019, arXiv:1910.07467)."""
    return x * rms_factor(x, epsilon)


def rms_factor(x: Float[Tensor, "rows d"], epsilon: float = EPSILON) -> Float[Tensor, "rows 1"]:
    """What :func:`rms_norm` multiplies a row by; 1 of a row of zeros without an epsilon."""
    size = (x.square().mean(dim=-1, keepdim=True) + epsilon).sqrt()
    return 1 / torch.where(size == 0, 1.0, size)


def batch_norm(x: Float[Tensor, "rows d"]) -> Float[Tensor, "rows d"]:
    """Each column less its mean, over its standard deviation: all rows together (Ioffe & Szegedy 2015)."""
    centred = x - x.mean(dim=0, keepdim=True)
    return centred / (centred.square().mean(dim=0, keepdim=True) + EPSILON).sqrt()


NORMS = {"LayerNorm": layer_norm, "RMSNorm": rms_norm, "BatchNorm": batch_norm}
