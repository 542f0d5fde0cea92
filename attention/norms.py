"""Normalizations of rows without gain and bias."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

EPSILON = 1e-6


def layer_norm(x: Float[Tensor, "rows d"]) -> Float[Tensor, "rows d"]:
    """Each row minus its mean, divided by its standard deviation (Ba et al. 2016, arXiv:1607.06450)."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + EPSILON).sqrt()


def rms_norm(x: Float[Tensor, "rows d"], epsilon: float = EPSILON) -> Float[Tensor, "rows d"]:
    """Each row divided by its root mean square; the mean stays (Zhang & Sennrich 2019, arXiv:1910.07467)."""
    return x * rms_factor(x, epsilon)


def rms_factor(x: Float[Tensor, "rows d"], epsilon: float = EPSILON) -> Float[Tensor, "rows 1"]:
    """The factor of :func:`rms_norm` for each row; 1 for a zero row without an epsilon."""
    size = (x.square().mean(dim=-1, keepdim=True) + epsilon).sqrt()
    return 1 / torch.where(size == 0, 1.0, size)


def batch_norm(x: Float[Tensor, "rows d"]) -> Float[Tensor, "rows d"]:
    """Each column minus its mean, divided by its standard deviation, over all rows (Ioffe & Szegedy 2015)."""
    centred = x - x.mean(dim=0, keepdim=True)
    return centred / (centred.square().mean(dim=0, keepdim=True) + EPSILON).sqrt()


NORMS = {"LayerNorm": layer_norm, "RMSNorm": rms_norm, "BatchNorm": batch_norm}
