"""Rotary functions as modeling files write them, and the same rotations by complex numbers, one at a time."""

from __future__ import annotations

import cmath

import torch
from torch import Tensor

HEADS, TOKENS, D_HEAD = 3, 11, 12


def angles(width: int) -> Tensor:
    """Position × frequency, in float64: (tokens, pairs)."""
    frequencies = torch.tensor([10.0 ** (-i) for i in range(width // 2)], dtype=torch.float64)
    return torch.arange(TOKENS, dtype=torch.float64)[:, None] * frequencies


def noise(width: int = D_HEAD) -> Tensor:
    return torch.randn(HEADS, TOKENS, width, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def turned_by_numbers(x: Tensor, pairs: list[tuple[int, int]], scale: float = 1.0) -> Tensor:
    """Every pair as a complex number times e^(i·angle), one at a time."""
    result = x.clone()
    for head in range(len(x)):
        for token, own in enumerate(angles(2 * len(pairs)).tolist()):
            for (a, b), angle in zip(pairs, own, strict=True):
                number = complex(float(x[head, token, a]), float(x[head, token, b])) * scale * cmath.exp(1j * angle)
                result[head, token, a], result[head, token, b] = number.real, number.imag
    return result


def halves(width: int) -> list[tuple[int, int]]:
    return [(i, i + width // 2) for i in range(width // 2)]


def neighbours(width: int) -> list[tuple[int, int]]:
    return [(2 * i, 2 * i + 1) for i in range(width // 2)]


# The functions below are written as those of transformers' modeling files are: q and k (batch, heads, tokens, width).


def half_split(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1) -> tuple[Tensor, Tensor]:
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)

    def turn(x: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], dim=-1) * sin

    return turn(q), turn(k)


def in_neighbours(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1) -> tuple[Tensor, Tensor]:
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)

    def turn(x: Tensor) -> Tensor:
        return x * cos + torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2) * sin

    return turn(q), turn(k)


def apply_rotary_pos_emb_interleave(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1
) -> tuple[Tensor, Tensor]:
    """DeepSeek: neighbours come in, halves go out."""

    def sorted_halves(x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)

    return half_split(sorted_halves(q), sorted_halves(k), cos, sin, unsqueeze_dim)


def cos_sin_of(layout: str, width: int, scale: float) -> tuple[Tensor, Tensor]:
    own = angles(width)
    wide = own.repeat_interleave(2, dim=-1) if layout == "neighbours" else torch.cat([own, own], dim=-1)
    return (scale * wide.cos()).float()[None], (scale * wide.sin()).float()[None]
