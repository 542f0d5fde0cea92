"""Edits of the rotation: changes of the angles by which queries and keys are rotated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from model_runner.errors import N_, EditNotPossible


@dataclass(frozen=True)
class Unrotated:
    """No rotation: attention receives queries and keys as they were projected."""


@dataclass(frozen=True)
class ScaledTheta:
    """Every frequency θ times ``factor``; 1/2 is linear position interpolation by 2 (Chen et al. 2023, 2306.15595)."""

    factor: float

    def __post_init__(self) -> None:
        _check_factor(self.factor)


@dataclass(frozen=True)
class NtkTheta:
    """Raises the base of the frequencies so that the slowest is divided by ``factor`` and the fastest is unchanged.

    θ_i becomes θ_i · factor^(−i/(n−1)) for n pairs: base · factor^(d/(d−2)) (bloc97 2023, "NTK-aware scaled RoPE").
    """

    factor: float

    def __post_init__(self) -> None:
        _check_factor(self.factor)


@dataclass(frozen=True)
class YarnTheta:
    """YaRN: pairs that rotate often within ``context`` are unchanged, those that hardly do are slowed by ``factor``.

    Between them is a ramp. Queries and keys are also scaled, by 0.1·ln(factor) + 1 (Peng et al. 2023, arXiv:2309.00071,
    eq. 22 to 24).
    """

    factor: float
    context: int

    def __post_init__(self) -> None:
        _check_factor(self.factor)
        if self.context < 2:
            raise EditNotPossible(reason=N_("the context that a model was built for is at least two tokens"))


@dataclass(frozen=True)
class ShiftedPositions:
    """Every position plus ``by``: RoPE is relative, so nothing else changes."""

    by: int


@dataclass(frozen=True)
class RestartedPositions:
    """Positions restart at 0 at each of these tokens, as in packed documents."""

    starts: tuple[int, ...]


RotationEdit = Unrotated | ScaledTheta | NtkTheta | YarnTheta | ShiftedPositions | RestartedPositions


def stretch(edits: Sequence[object]) -> float:
    """By what factor these edits extend the context that a model's rotation was built for; at least 1."""
    times = 1.0
    for edit in edits:
        match edit:
            case NtkTheta(factor) | YarnTheta(factor, _):
                times *= factor
            case ScaledTheta(factor):
                times /= factor
            case _:
                pass
    return max(1.0, times)


def _check_factor(factor: float) -> None:
    if not (math.isfinite(factor) and factor > 0):
        raise EditNotPossible(reason=N_("θ can only be multiplied by a positive number"))
