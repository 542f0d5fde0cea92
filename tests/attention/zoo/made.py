"""Heads of random numbers for the tests of the zoo, and sums written as loops of Python's own floats."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from attention.rotary import angles_at, frequencies, pairs_of, rotate
from attention.zoo.head import Head, head_of
from attention.zoo.layer import Layer


def made(
    n: int = 11, d: int = 6, *, causal: bool = True, seed: int = 0, width: int | None = None, size: float = 1.0
) -> Head:
    """Normal numbers, as if positions had turned them; a second head beside it has scores of its own."""
    chance = torch.Generator().manual_seed(seed)

    def drawn(columns: int) -> torch.Tensor:
        return size * torch.randn(n, columns, generator=chance, dtype=torch.float64)

    head = head_of(drawn(d), drawn(d), drawn(width or d), causal=causal)
    beside = (drawn(d) @ drawn(d).T).masked_fill(~head.keep, -torch.inf)
    return replace(head, beside=beside, layer=layer_of(head, drawn), kv_head=1)


def turns_of(d: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Angles a token and pairs of coordinates of the rotation of a head that is made here."""
    return frequencies(100.0, d // 2 * 2), pairs_of(d // 2 * 2, "half")


def layer_of(head: Head, drawn) -> Layer:
    """Two heads of keys before they were turned, and of values; the second is this one's."""
    theta, pairs = turns_of(head.k.shape[1])
    angles = angles_at(torch.arange(head.n_tokens), theta)
    k = torch.stack([drawn(head.k.shape[1]), rotate(head.k, -angles, pairs)])
    turn, back = (lambda x, way=way: rotate(x, way * angles, pairs) for way in (1, -1))

    def turn_at(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        return rotate(x, angles_at(places, theta), pairs)

    return Layer(k, torch.stack([drawn(head.v.shape[1]), head.v]), turn, back, turn_at)


def windowed(head: Head, window: int) -> Head:
    """The same under a mask of the layer's own: the last keys alone."""
    keep = head.keep & torch.ones_like(head.keep).triu(1 - window)
    beside = None if head.beside is None else head.beside.masked_fill(~keep, -torch.inf)
    return replace(head, keep=keep, scores=head.scores.masked_fill(~keep, -torch.inf), beside=beside)


PLACES = {"causal": made(), "around": made(causal=False), "window": windowed(made(), 3)}


def dot(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def by_kernel(head: Head, similar) -> list[list[float]]:
    """Σ_j sim(i, j) v_j / Σ_j sim(i, j) over visible keys, by loops; ``similar`` takes lists q, k and places i, j."""
    q, k, v, keep = head.q.tolist(), head.k.tolist(), head.v.tolist(), head.keep.tolist()
    rows = []
    for i in range(len(q)):
        shares = [similar(q[i], k[j], i, j) if keep[i][j] else 0.0 for j in range(len(k))]
        total = math.fsum(shares)
        rows.append([math.fsum(s * v[j][c] for j, s in enumerate(shares)) / (total or 1.0) for c in range(len(v[0]))])
    return rows


def softmax_loops(scores: list[list[float]], extra: float | None = None) -> list[list[float]]:
    """exp(s) / Σ exp(s), −inf as nothing; ``extra`` is one more term of every sum."""
    rows = []
    for row in scores:
        most = max([*row, *([] if extra is None else [extra])])
        exps = [math.exp(s - most) for s in row]
        total = math.fsum(exps) + (0.0 if extra is None else math.exp(extra - most))
        rows.append([one / total for one in exps])
    return rows


def mixed(weights: list[list[float]], v: list[list[float]]) -> list[list[float]]:
    return [[math.fsum(w * v[j][c] for j, w in enumerate(row)) for c in range(len(v[0]))] for row in weights]
