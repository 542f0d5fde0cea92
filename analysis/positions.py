"""Rotary positions on the model's own vectors: every pair before and after, and the effect of shifting them.

Everything is in float64, from the vectors that attention received (after the rotation) and those before it. Pairs are
in the order of :class:`model_runner.positions.RotaryLayout`: fastest first. A layer without rotation raises NoRotation,
one whose rotation cannot be inferred NotRecoverable, one without softmax attention NoWeights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention import rotary
from model_runner.capture import ROWS, Capture
from model_runner.errors import N_, NoSuchPlace
from model_runner.positions import RotaryLayout, layout_of

SHIFTS = (1, 2, 7, 64, 1000)
ROUNDINGS = 16  # of the model's dtype, in a rotated number: cosine, sine, two products, a sum, on each side


@dataclass(frozen=True, eq=False)
class Turned:
    """One layer's rotation; ``pairs`` are the dimensions of d_head after the rotation."""

    layer: int
    layout: Literal["half", "interleaved", "other"]
    pairs: Int[np.ndarray, "pairs 2"]
    theta: Float[np.ndarray, "pairs"]  # rad/token
    wavelengths: Float[np.ndarray, "pairs"]  # tokens; inf for a pair that is not rotated
    factor: float  # scales q and k
    start: int
    stop: int
    d_head: int
    difference: float  # the largest between rotated and captured q and k, over all heads and tokens
    tolerance: float  # the allowed rounding error
    ok: bool


@dataclass(frozen=True, eq=False)
class Dials:
    """The pairs of one head's query and key at one token, before and after the rotation by ``angles``.

    ``q_after`` and ``k_after`` are the captured numbers. Angles are position × θ, not wrapped, and rounded to float32
    as in the model: ``Math.fround(theta * position)`` in a browser.
    """

    head: int
    kv_head: int
    token: int
    position: int
    angles: Float[np.ndarray, "pairs"]
    q_before: Float[np.ndarray, "pairs 2"]
    q_after: Float[np.ndarray, "pairs 2"]
    k_before: Float[np.ndarray, "pairs 2"]
    k_after: Float[np.ndarray, "pairs 2"]


@dataclass(frozen=True, eq=False)
class MovedCell:
    """The contents of one cell, to be put at any two positions.

    score(m, n) = scale · (factor² · Σ |q_i||k_i| cos(φ_i + (m − n)·θ_i) + rest), then the soft-cap. ``amplitude`` and
    ``phase`` are |q_i||k_i| and φ_i, the angle from key to query before the rotation.
    """

    theta: Float[np.ndarray, "pairs"]
    amplitude: Float[np.ndarray, "pairs"]  # including factor² and scale: a pair's largest contribution to the score
    phase: Float[np.ndarray, "pairs"]
    rest: float  # what the dimensions that are not rotated add, scale included
    softcap: float | None
    query: int  # positions of the two tokens
    key: int

    def score(self, m: float | int, n: float | int) -> float:
        """The score with the query's content at position m and the key's at n; after the soft-cap, without mask."""
        total = float((self.amplitude * np.cos(self.phase + (m - n) * self.theta)).sum()) + self.rest
        return total if self.softcap is None else self.softcap * math.tanh(total / self.softcap)


@dataclass(frozen=True, eq=False)
class ShiftDeviation:
    """Moving query and key by the same shift: the largest |score(m + s, n + s) − score(m, n)| of each shift s.

    Over every pair of tokens of the text, before soft-cap and mask. In float64 what is left is float64 rounding;
    ``captured`` is the largest difference between the unshifted scores and those of the captured vectors, which were
    rotated in the model's own arithmetic. ``largest`` is the largest |score|.
    """

    shifts: tuple[int, ...]
    by_shift: Float[np.ndarray, "shifts"]
    captured: float
    largest: float

    @property
    def deviation(self) -> float:
        return float(self.by_shift.max())


def turned(capture: Capture, layer: int) -> Turned:
    """The layer's rotation, and how far its vectors are from the captured ones. O(heads × tokens × d_head)."""
    layout, record = layout_of(capture, layer), capture.record(layer)
    unit = max(torch.finfo(record.q.dtype).eps, torch.finfo(torch.float32).eps) / 2
    both = [(record.q, capture.q_unrotated(layer)), (record.k, capture.k_unrotated(layer))]
    differences = [float((layout.rotate(float64(before)) - float64(after)).abs().max()) for after, before in both]
    tolerance = ROUNDINGS * unit * max(float(after.abs().max()) for after, _ in both)
    return Turned(
        layer=layer % capture.n_layers,
        layout=layout.layout,
        pairs=layout.pairs.numpy(),
        theta=layout.theta.numpy(),
        wavelengths=layout.wavelengths.numpy(),
        factor=layout.factor,
        start=layout.start,
        stop=layout.stop,
        d_head=record.q.shape[-1],
        difference=max(differences),
        tolerance=tolerance,
        ok=max(differences) <= tolerance,
    )


def dials(capture: Capture, layer: int, head: int, token: int) -> Dials:
    """One head at one token. O(heads × tokens × d_head). Also raises NoSuchPlace."""
    layout, record = layout_of(capture, layer), capture.record(layer)
    head, token = place_of(capture, layer, head, token)
    kv_head = head // record.group
    q, k = float64(capture.q_unrotated(layer)[head, token]), float64(capture.k_unrotated(layer)[kv_head, token])
    return Dials(
        head=head,
        kv_head=kv_head,
        token=token,
        position=int(layout.positions[token]),
        angles=layout.angles()[token].numpy(),
        q_before=q[layout.source].numpy(),
        q_after=float64(record.q[head, token])[layout.pairs].numpy(),
        k_before=k[layout.source].numpy(),
        k_after=float64(record.k[kv_head, token])[layout.pairs].numpy(),
    )


def moved_cell(capture: Capture, layer: int, head: int, query: int, key: int) -> MovedCell:
    """One cell's contents, independent of their positions. O(heads × tokens × d_head).

    Also raises NoSuchPlace, NoSoftmax.
    """
    capture.check_softmax(layer, head)
    layout, record = layout_of(capture, layer), capture.record(layer)
    head, query, key = place_of(capture, layer, head, query, key)
    q, k = _before(capture, layer, head)
    product = rotary.products(q[query], k[key], layout.source)
    rest = rotary.without_pairs(q[query] * k[key], layout.source).sum()
    return MovedCell(
        theta=layout.theta.numpy(),
        amplitude=(record.scale * layout.factor**2 * product.abs()).numpy(),
        phase=product.angle().numpy(),
        rest=record.scale * float(rest),
        softcap=record.softcap,
        query=int(layout.positions[query]),
        key=int(layout.positions[key]),
    )


def shift_deviation(capture: Capture, layer: int, head: int, shifts: Sequence[int] = SHIFTS) -> ShiftDeviation:
    """How far a head's scores move when all positions are shifted. Also raises NoSuchPlace.

    O(shifts × tokens² × d_head) time, O(ROWS × tokens) memory.
    """
    layout, record = layout_of(capture, layer), capture.record(layer)
    (head,) = place_of(capture, layer, head)
    q, k = _before(capture, layer, head)
    places = [layout.positions + shift for shift in (0, *shifts)]
    moved = [(_exactly(layout, q, at) * record.scale, _exactly(layout, k, at).T) for at in places]
    own_q, own_k = float64(record.q[head]) * record.scale, float64(record.k[head // record.group]).T
    deviation, captured, largest = torch.zeros(len(shifts), dtype=torch.float64), 0.0, 0.0
    for start in range(0, len(q), ROWS):
        rows = slice(start, start + ROWS)
        here = moved[0][0][rows] @ moved[0][1]
        for i, (shifted_q, shifted_k) in enumerate(moved[1:]):
            deviation[i] = max(deviation[i], (shifted_q[rows] @ shifted_k - here).abs().max())
        captured = max(captured, float((own_q[rows] @ own_k - here).abs().max()))
        largest = max(largest, float(here.abs().max()))
    return ShiftDeviation(tuple(shifts), deviation.numpy(), captured, largest)


def place_of(capture: Capture, layer: int, head: int, *positions: int) -> tuple[int, ...]:
    """Head and positions, counted from 0. Raises NoSuchPlace if they do not exist, NoWeights."""
    heads = capture.record(layer).q.shape[0]
    for what, value, count in [
        (N_("head"), head, heads),
        *((N_("position"), p, len(capture.tokens)) for p in positions),
    ]:
        if not -count <= value < count:
            raise NoSuchPlace(what=what, value=value, count=count)
    return (head % heads, *(position % len(capture.tokens) for position in positions))


def _before(
    capture: Capture, layer: int, head: int
) -> tuple[Float[Tensor, "tokens d_head"], Float[Tensor, "tokens d_head"]]:
    """One head's queries and keys before the rotation, float64."""
    kv_head = head // capture.record(layer).group
    return float64(capture.q_unrotated(layer)[head]), float64(capture.k_unrotated(layer)[kv_head])


def _exactly(
    layout: RotaryLayout, x: Float[Tensor, "tokens d_head"], positions: Int[Tensor, "tokens"]
) -> Float[Tensor, "tokens d_head"]:
    """Rotate by position × θ in float64, without the model's own rounding of that product."""
    angles = rotary.angles_at(positions, layout.theta)
    return rotary.rotate(x, angles, layout.pairs, factor=layout.factor, source=layout.source)


def float64(x: Tensor) -> Tensor:
    """The same numbers on the CPU in float64."""
    return x.detach().to("cpu", torch.float64)
