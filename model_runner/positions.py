"""Determines a model's rotation from what a capture recorded: which coordinates rotate together, and how fast.

The recorded cosines and sines give the angles; the result is tested on noise against the recorded rotation before it is
used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention import rotary
from model_runner.capture import Capture
from model_runner.errors import N_, NoRotation, NotRecoverable
from model_runner.rotary import Rotation
from model_runner.rotation_edit import RestartedPositions, ShiftedPositions

NEAREST = 8  # float32 numbers on either side of the fitted θ that are tried as the model's own
FLOAT32 = torch.finfo(torch.float32).eps


class Unread(Exception):
    """Why a rotation cannot be determined; becomes a NotRecoverable that names the layer."""


@dataclass(frozen=True, eq=False)
class RotaryLayout:
    """The rotation of one layer, fastest pair first. Tensors are on the CPU, θ and angles in float64.

    ``pairs`` are coordinates of the vectors that attention received, after the rotation; ``source`` are the coordinates
    of the same pairs before it, which differ only if the model reorders them (DeepSeek). Positive angles rotate the
    first coordinate of a pair towards the second. ``factor`` scales q and k (YaRN), and thus scores by its square.
    """

    pairs: Int[Tensor, "pairs 2"]
    source: Int[Tensor, "pairs 2"]
    theta: Float[Tensor, "pairs"]  # rad/token; exact float32 numbers where the model's cosines are float32
    factor: float
    start: int  # the coordinates from start to stop (exclusive) are rotated
    stop: int
    positions: Int[Tensor, "tokens"]  # of the captured tokens

    @property
    def layout(self) -> Literal["half", "interleaved", "other"]:
        """How the pairs are laid out in the vectors before the rotation."""
        order = self.source[self.source[:, 0].argsort()]
        for name in ("half", "interleaved"):
            if torch.equal(order, rotary.pairs_of(self.stop - self.start, name, start=self.start)):
                return name
        return "other"

    @property
    def wavelengths(self) -> Float[Tensor, "pairs"]:
        """Tokens per full turn; infinite for a pair that does not rotate."""
        return rotary.wavelengths(self.theta)

    def angles(self, positions: Tensor | None = None) -> Float[Tensor, "places pairs"]:
        """position × θ in radians, rounded to float32 like the model's own product; None: at the capture's positions.

        The exact product is :func:`attention.rotary.angles_at`.
        """
        positions = self.positions if positions is None else positions
        return (positions.float()[:, None] * self.theta.float()).double()

    def rotate(
        self, x: Float[Tensor, "heads places d_head"], positions: Tensor | None = None
    ) -> Float[Tensor, "heads places d_head"]:
        """Rotate vectors from before the rotation as the model does at these positions; None: at the capture's."""
        return rotary.rotate(x, self.angles(positions), self.pairs, factor=self.factor, source=self.source)


def layout_of(capture: Capture, layer: int) -> RotaryLayout:
    """The rotation of this layer of the model. O(tokens × d_head).

    Raises NoWeights, NoRotation for a layer that does not rotate, and NotRecoverable, with the reason, if the rotation
    cannot be determined.
    """
    rotation = capture.record(layer).rotation
    layer %= capture.n_layers
    if rotation is None:
        raise NoRotation(layer=layer)
    if isinstance(rotation, str):
        raise NotRecoverable(layer=layer, reason=rotation)
    try:
        return _read(rotation, _positions(capture))
    except Unread as refused:
        raise NotRecoverable(layer=layer, reason=str(refused)) from refused


def _positions(capture: Capture) -> Int[Tensor, "tokens"]:
    """0, 1, 2, … unless an edit of the request changes them."""
    positions = torch.arange(len(capture.tokens))
    for edit in capture.request.edits:
        if isinstance(edit, ShiftedPositions):
            positions = positions + edit.by
        elif isinstance(edit, RestartedPositions):
            index, first = torch.arange(len(positions)), torch.zeros_like(positions)
            for begin in sorted(edit.starts):
                first = torch.where(index >= begin, begin, first)
            positions = positions - positions[first]
    return positions


def _read(rotation: Rotation, positions: Int[Tensor, "tokens"]) -> RotaryLayout:
    pairs, source = rotation.pairs.cpu(), rotation.source.cpu()
    both_cos, both_sin = (part.to("cpu", torch.float64) for part in rotation.angles())
    if not (torch.equal(both_cos[..., 0], both_cos[..., 1]) and torch.equal(both_sin[..., 0], both_sin[..., 1])):
        raise Unread(N_("the two coordinates of a pair are not turned by the same angle"))
    unit = torch.finfo(rotation.cos.dtype).eps
    factor = _factor(both_cos[..., 0], both_sin[..., 0], unit)
    theta = theta_of(torch.atan2(both_sin[..., 0], both_cos[..., 0]), positions, unit)
    order = theta.argsort(descending=True, stable=True)
    turned = pairs + rotation.start
    layout = RotaryLayout(
        pairs=turned[order],
        source=source[order] + rotation.start,
        theta=theta[order],
        factor=factor,
        start=int(turned.min()),
        stop=int(turned.max()) + 1,
        positions=positions,
    )
    _try_on_noise(layout, rotation, unit)
    return layout


def _factor(cos: Float[Tensor, "tokens pairs"], sin: Float[Tensor, "tokens pairs"], unit: float) -> float:
    """√(cos² + sin²), the same for every pair and token; exactly 1 if it differs from 1 only by rounding."""
    size = torch.hypot(cos, sin)
    factor = float(size.mean())
    if not math.isfinite(factor) or factor == 0 or bool((size - factor).abs().max() > 2 * unit * factor):
        raise Unread(N_("it stretches some pairs more than others"))
    return 1.0 if abs(factor - 1) <= unit / 2 else factor


def theta_of(
    angle: Float[Tensor, "tokens pairs"], positions: Int[Tensor, "tokens"], unit: float
) -> Float[Tensor, "pairs"]:
    """θ of every pair from its angle, known up to full turns, at each position; ``unit`` is the rounding unit.

    Raises Unread if the angles are not position × frequency.

    Successive tokens give a first estimate; then the span is doubled repeatedly, each time with an estimate good enough
    to count the full turns.
    """
    one_apart = (positions.diff() == 1).nonzero()[:, 0]
    if len(one_apart) == 0:
        raise Unread(N_("no two of its tokens follow each other, so nothing shows how fast it turns"))
    theta = _wrapped(angle[one_apart + 1] - angle[one_apart]).median(dim=0).values
    away = (positions - positions[0])[:, None].double()
    span, longest = 1, int(away.abs().max())
    while span < 2 * longest:
        near = (away[:, 0].abs() <= span).nonzero()[:, 0]
        left = _wrapped(angle[near] - angle[0] - theta * away[near])
        theta = theta + (left * away[near]).sum(dim=0) / (away[near] ** 2).sum(dim=0).clamp(min=1)
        span *= 2
    if unit <= FLOAT32:
        theta = _nearest_float32(theta, angle, positions)
    exact = positions[:, None] * theta
    if bool((_wrapped(angle - exact).abs() > 2 * unit + 2 * FLOAT32 * exact.abs()).any()):
        raise Unread(N_("its angles are not position × frequency"))
    return theta


def _nearest_float32(
    theta: Float[Tensor, "pairs"], angle: Float[Tensor, "tokens pairs"], positions: Int[Tensor, "tokens"]
) -> Float[Tensor, "pairs"]:
    """For each θ, the float32 number nearby whose float32 products with the positions fit the angles best."""
    bits, best, least = theta.float().view(torch.int32), theta.float(), torch.full_like(theta, torch.inf)
    for step in sorted(range(-NEAREST, NEAREST + 1), key=abs):
        candidate = (bits + step).view(torch.float32)
        left = _wrapped(angle - (positions.float()[:, None] * candidate).double()).abs().sum(dim=0)
        better = (left < least) & candidate.isfinite()
        best, least = torch.where(better, candidate, best), torch.where(better, left, least)
    return best.double()


def _wrapped(angle: Tensor) -> Tensor:
    """The same angle between −π and π."""
    return torch.remainder(angle + math.pi, 2 * math.pi) - math.pi


def _try_on_noise(layout: RotaryLayout, rotation: Rotation, unit: float) -> None:
    """Raises Unread unless the layout rotates noise as the recorded function does."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(1, len(layout.positions), rotation.stop - rotation.start, generator=generator)
    whole = torch.zeros(1, len(layout.positions), rotation.stop)
    whole[..., rotation.start :] = noise
    mine = layout.rotate(whole)[..., rotation.start :]
    own = rotation.apply(noise.to(rotation.cos.device)).cpu()
    fastest = float(layout.angles().abs().max())
    allowed = layout.factor * (4 * unit + 4 * FLOAT32 * fastest) * float(noise.abs().max())
    if not bool((mine - own).abs().max() <= allowed):
        raise Unread(N_("the rotation read from it does not turn vectors as the model does"))
