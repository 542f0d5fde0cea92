"""Rotary positions: pairs of dimensions rotated by position × frequency (Su et al. 2021, arXiv:2104.09864).

A pair of dimensions (a, b) of a query or key is treated as a complex number; at position m it is multiplied by
e^(i·m·θ). The product of a query at m with a key at n then depends only on m − n. ``base`` is the number whose powers
are the frequencies (rope_theta in a model's configuration), ``theta`` are the frequencies θ_i themselves, in radians
per token.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

Layout = Literal["half", "interleaved"]


def pairs_of(d_rot: int, layout: Layout, *, start: int = 0) -> Int[Tensor, "pairs 2"]:
    """The dimensions of d_head that are rotated together: (i, i + d_rot/2), or adjacent ones; from ``start`` on.

    A rotation is partial if ``d_rot`` is less than d_head. Raises ValueError for an odd ``d_rot``.
    """
    n_pairs = _n_pairs(d_rot)
    first = torch.arange(n_pairs)
    both = [first, first + n_pairs] if layout == "half" else [2 * first, 2 * first + 1]
    return torch.stack(both, dim=-1) + start


def frequencies(base: float, d_rot: int) -> Float[Tensor, "pairs"]:
    """θ_i = base^(−2i/d_rot) in radians per token, decreasing from 1, float64.

    Raises ValueError for an odd ``d_rot`` or a base that is not positive.
    """
    n_pairs = _n_pairs(d_rot)
    if not (math.isfinite(base) and base > 0):
        raise ValueError(f"the base of the frequencies is {base}; it must be a positive number")
    return base ** (-torch.arange(n_pairs, dtype=torch.float64) / n_pairs)


def wavelengths(theta: Float[Tensor, "pairs"]) -> Float[Tensor, "pairs"]:
    """Tokens per full turn: 2π/θ_i; infinite for a pair that is not rotated."""
    return 2 * math.pi / theta


def angles_at(positions: Tensor, theta: Float[Tensor, "pairs"]) -> Float[Tensor, "tokens pairs"]:
    """position × θ_i in radians, not wrapped, float64. Positions may be fractional (interpolation) or negative."""
    return positions.double()[:, None] * theta.double()


def rotate(
    x: Float[Tensor, "*any tokens d_head"],
    angles: Float[Tensor, "#tokens pairs"],
    pairs: Int[Tensor, "pairs 2"],
    *,
    factor: float = 1.0,
    source: Int[Tensor, "pairs 2"] | None = None,
) -> Float[Tensor, "*any tokens d_head"]:
    """Rotate every pair by its angle and scale it by ``factor``; other dimensions are unchanged.

    ``source`` says where the pairs come from if the rotation also permutes them (DeepSeek: adjacent in, halves out).
    """
    source = pairs if source is None else source
    cos, sin = (factor * angles.cos()).to(x), (factor * angles.sin()).to(x)
    first, second = x[..., source[:, 0]], x[..., source[:, 1]]
    turned = x.clone()
    turned[..., pairs[:, 0]] = first * cos - second * sin
    turned[..., pairs[:, 1]] = first * sin + second * cos
    return turned


def as_complex(x: Float[Tensor, "*any d_head"], pairs: Int[Tensor, "pairs 2"]) -> Complex[Tensor, "*any pairs"]:
    """Every pair as a complex number, which a rotation multiplies by e^(i·angle)."""
    return torch.complex(x[..., pairs[:, 0]], x[..., pairs[:, 1]])


def without_pairs(x: Float[Tensor, "*any d_head"], pairs: Int[Tensor, "pairs 2"]) -> Float[Tensor, "*any rest"]:
    """The dimensions that are not rotated, in order; empty if all are."""
    is_rest = torch.ones(x.shape[-1], dtype=torch.bool)
    is_rest[pairs.flatten()] = False
    return x[..., is_rest]


def pair_contributions(
    q: Float[Tensor, "*#any d_head"], k: Float[Tensor, "*#any d_head"], pairs: Int[Tensor, "pairs 2"]
) -> Float[Tensor, "... pairs"]:
    """What each pair adds to q·k, both after the rotation; with the product of the other dimensions they sum to q·k.

    ``q`` and ``k`` are broadcast against each other.
    """
    product = q * k
    return product[..., pairs[:, 0]] + product[..., pairs[:, 1]]


def products(
    q: Float[Tensor, "*#any d_head"], k: Float[Tensor, "*#any d_head"], pairs: Int[Tensor, "pairs 2"]
) -> Complex[Tensor, "... pairs"]:
    """Query times conjugate key of every pair, both before the rotation: the input of :func:`at_distances`."""
    return as_complex(q, pairs) * as_complex(k, pairs).conj()


def at_distances(
    product: Complex[Tensor, "*any pairs"], theta: Float[Tensor, "pairs"], distances: Tensor
) -> Float[Tensor, "*any distances pairs"]:
    """What each pair adds to q·k if the query is this many tokens after the key: Re(product · e^(i·θ·distance)).

    The product is bilinear in q and k, so the mean of products over many contents gives the mean curve.
    """
    turn = torch.polar(torch.ones((), dtype=torch.float64), angles_at(distances, theta)).to(product)
    return (product[..., None, :] * turn).real


def score_by_distance(
    q: Float[Tensor, "*any d_head"],
    k: Float[Tensor, "*any d_head"],
    distances: Tensor,
    theta: Float[Tensor, "pairs"],
    pairs: Int[Tensor, "pairs 2"],
    *,
    scale: float = 1.0,
    factor: float = 1.0,
) -> Float[Tensor, "*any distances"]:
    """The score of a query and a key, both before the rotation, with the query this many tokens after the key.

    Contents are fixed and the distance varies; before any soft-cap. Dimensions that are not rotated add a constant.
    """
    turned = at_distances(products(q, k, pairs), theta, distances).sum(-1)
    rest = (without_pairs(q, pairs) * without_pairs(k, pairs)).sum(-1)
    return scale * (factor**2 * turned + rest[..., None])


def _n_pairs(d_rot: int) -> int:
    if d_rot < 2 or d_rot % 2:
        raise ValueError(f"{d_rot} coordinates do not make pairs; their number must be even and at least 2")
    return d_rot // 2
