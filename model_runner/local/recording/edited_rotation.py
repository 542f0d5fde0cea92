"""Edits of the rotation: cosines and sines as the model would compute them at the edited positions and frequencies.

A column of cos and sin belongs to one pair of coordinates, whatever the family's layout, so changing its angle needs no
knowledge of the layout. Where the angle is unchanged, the model's own numbers stay. Angles are rounded to float32, like
a model's own products of position and θ. The frequencies θ come from one probe of the model at positions 1, 2, 4, …:
the product of such a position and θ is exact in float32, so each doubling halves the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.rotary_scaling import yarn, yarn_factor
from model_runner.errors import N_, EditNotPossible
from model_runner.rotation_edit import (
    NtkTheta,
    RestartedPositions,
    RotationEdit,
    ScaledTheta,
    ShiftedPositions,
    Unrotated,
    YarnTheta,
)

SAME_ANGLE = 1e-3  # of cos and sin, float32 at a few thousand positions; another frequency is off by far more


@runtime_checkable
class RotationChange(Protocol):
    """An object that may replace the cosines and sines of a rotary call."""

    def apply(self, cos: Tensor, sin: Tensor, *, start: int, call: int) -> tuple[Tensor, Tensor]:
        """Cos and sin ``[..., tokens, columns]`` of the call with this number, whose first token is at ``start``."""
        ...


@dataclass(frozen=True, eq=False)
class EditedRotation:
    """Edits of the rotation, with the frequencies of every call of the model's rotary function in one forward."""

    edits: tuple[RotationEdit, ...]
    thetas: tuple[Float[Tensor, "columns"], ...]

    def apply(self, cos: Tensor, sin: Tensor, *, start: int, call: int) -> tuple[Tensor, Tensor]:
        """The edited cosines and sines ``[..., tokens, columns]`` of the call with this number, in their own dtype."""
        theta = self.thetas[call % len(self.thetas)].to(cos.device)
        if cos.shape[-1] != len(theta):
            raise EditNotPossible(reason=N_("the model's rotation changes its width from call to call"))
        position = torch.arange(start, start + cos.shape[-2], device=cos.device)
        c, s = cos.double(), sin.double()
        size = torch.sqrt(c * c + s * s)
        old = position[:, None] * theta
        if bool((c - size * old.cos()).abs().max() > SAME_ANGLE) or bool(
            (s - size * old.sin()).abs().max() > SAME_ANGLE
        ):
            raise EditNotPossible(reason=N_("its frequencies depend on the length of the text"))
        new_position, new_theta = position, theta
        for edit in self.edits:
            new_position, new_theta = _edited(edit, new_position, new_theta)
        stays = new_position[:, None] * new_theta == old
        angle = (new_position.float()[:, None] * new_theta.float()).double()
        size = torch.where((size - 1).abs() <= torch.finfo(cos.dtype).eps, 1.0, size)
        longer = math.prod(yarn_factor(edit.factor) for edit in self.edits if isinstance(edit, YarnTheta))
        new_cos = torch.where(stays, c, size * angle.cos()) * longer
        new_sin = torch.where(stays, s, size * angle.sin()) * longer
        return new_cos.to(cos.dtype), new_sin.to(sin.dtype)


def _edited(
    edit: RotationEdit, position: Int[Tensor, "tokens"], theta: Float[Tensor, "columns"]
) -> tuple[Tensor, Tensor]:
    match edit:
        case Unrotated():
            return position, torch.zeros_like(theta)
        case ScaledTheta(factor):
            return position, theta * factor
        case NtkTheta(factor):
            rank = _rank(theta)
            return position, theta * factor ** (-rank / rank.max().clamp(min=1.0))
        case YarnTheta(factor, context):
            return position, _yarn(theta, factor, context)
        case ShiftedPositions(by):
            return position + by, theta
        case RestartedPositions(starts):
            first = torch.zeros_like(position)
            for begin in sorted(starts):
                first = torch.where(position >= begin, begin, first)
            return position - first, theta


def _rank(theta: Float[Tensor, "columns"]) -> Float[Tensor, "columns"]:
    """The rank of each column's pair by frequency: 0 for the fastest, 1 for the next, …"""
    return torch.unique(-theta, return_inverse=True)[1].double()


def _yarn(theta: Float[Tensor, "columns"], factor: float, context: int) -> Float[Tensor, "columns"]:
    """θ after YaRN, for pairs from fastest to slowest; the base follows from the ratio of the first to the last."""
    falling, pair = torch.unique(-theta, return_inverse=True)
    pairs = -falling
    if len(pairs) < 2 or bool(pairs[-1] <= 0):
        raise EditNotPossible(reason=N_("its frequencies are not those of one base"))
    base = float(pairs[0] / pairs[-1]) ** (len(pairs) / (len(pairs) - 1))
    return yarn(pairs, factor, base=base, context=context).theta[pair]


def thetas_from(
    calls: list[tuple[Float[Tensor, "tokens columns"], Float[Tensor, "tokens columns"]]],
) -> tuple[Float[Tensor, "columns"], ...]:
    """θ in rad/token of every column of every rotary call, from its cos and sin at positions 0, 1, 2, 4, 8, …

    Raises EditNotPossible if there is no rotation, or if it does not begin at position 0.
    """
    if not calls:
        raise EditNotPossible(reason=N_("this model has no rotation that is given as a cosine and a sine"))
    return tuple(_theta(cos.double(), sin.double()) for cos, sin in calls)


def _theta(cos: Float[Tensor, "tokens columns"], sin: Float[Tensor, "tokens columns"]) -> Float[Tensor, "columns"]:
    angle = torch.atan2(sin, cos)
    if bool(angle[0].abs().max() > SAME_ANGLE):
        raise EditNotPossible(reason=N_("its positions do not begin at 0"))
    theta = angle[1]
    # at position 2^k, where the previous estimate gives the number of full turns
    for k, found in enumerate(angle[2:], start=1):
        turns = torch.round((theta * 2**k - found) / (2 * math.pi))
        theta = (found + 2 * math.pi * turns) / 2**k
    return theta
