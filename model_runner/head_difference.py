"""Heads in pairs, where the model subtracts one's output from the other's (Ye et al. 2024, arXiv:2410.05258)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class HeadDifference:
    """A layer's ``2n`` heads: pair p is head p minus ``factor`` times head ``p + n``, followed by a norm.

    ``joined`` is the input of the output projection: ``gain`` · x / √(mean x² + ``eps``), over the numbers of a pair.
    """

    factor: float
    gain: float
    eps: float
    joined: Float[Tensor, "queries pairs d_value"]

    @property
    def n_pairs(self) -> int:
        return self.joined.shape[1]

    def pair(self, head: int) -> tuple[int, int]:
        """The two heads of this head's pair: the first map, and the one that is subtracted."""
        return head % self.n_pairs, head % self.n_pairs + self.n_pairs

    def of(self, output: Float[Tensor, "queries heads d_value"]) -> Float[Tensor, "queries pairs d_value"]:
        """The differences of these outputs, float32."""
        first, second = output.float().split(self.n_pairs, dim=1)
        return first - self.factor * second

    def join(self, output: Float[Tensor, "queries heads d_value"]) -> Float[Tensor, "queries pairs d_value"]:
        """The input of the output projection for these outputs, float32."""
        return joined(self.of(output), self.gain, self.eps)

    def rounding(self, output: Float[Tensor, "queries heads d_value"]) -> Float[Tensor, "queries pairs d_value"]:
        """Allowed deviation of the model's own ``joined`` from :meth:`join`, if its dtype rounds every step.

        A difference is off by three units of its operands, which affects its own element and the norm's divisor along
        its direction; the rest is rounded four times.
        """
        unit = torch.finfo(output.dtype).eps / 2
        first, second = output.float().split(self.n_pairs, dim=1)
        x, off = self.of(output), 3 * unit * (first.abs() + abs(self.factor) * second.abs())
        length = (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
        moved = off + x.abs() / length * off.square().mean(dim=-1, keepdim=True).sqrt()
        return abs(self.gain) * (moved + 4 * unit * x.abs()) / length


def joined(x: Float[Tensor, "queries pairs d_value"], gain: float, eps: float) -> Tensor:
    """Differences after their pair's norm."""
    return gain * x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()
