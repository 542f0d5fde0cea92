"""Heads in pairs, of which a model subtracts one's output from the other's (Ye et al. 2024, arXiv:2410.05258)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class HeadDifference:
    """What a layer makes of its ``2n`` heads: of pair p, head p less ``factor`` times head ``p + n``, then a norm.

    ``joined`` is what the output projection reads: ``gain`` · x / √(mean x² + ``eps``), over the numbers of a pair.
    """

    factor: float
    gain: float
    eps: float
    joined: Float[Tensor, "queries pairs d_value"]

    @property
    def n_pairs(self) -> int:
        return self.joined.shape[1]

    def pair(self, head: int) -> tuple[int, int]:
        """The two heads of the pair that this head is in: the first map, and the one that is subtracted."""
        return head % self.n_pairs, head % self.n_pairs + self.n_pairs

    def of(self, output: Float[Tensor, "queries heads d_value"]) -> Float[Tensor, "queries pairs d_value"]:
        """The differences of these outputs, float32."""
        first, second = output.float().split(self.n_pairs, dim=1)
        return first - self.factor * second

    def join(self, output: Float[Tensor, "queries heads d_value"]) -> Float[Tensor, "queries pairs d_value"]:
        """What these outputs give to the output projection, float32."""
        return joined(self.of(output), self.gain, self.eps)

    def rounding(self, output: Float[Tensor, "queries heads d_value"]) -> Float[Tensor, "queries pairs d_value"]:
        """How far the model's own ``joined`` may be from :meth:`join`, its dtype rounding every step.

        A difference is off by three units of what it is made of, which its own number of the norm's vector passes on,
        and the norm's length as far as it goes along it; what follows is rounded four times.
        """
        unit = torch.finfo(output.dtype).eps / 2
        first, second = output.float().split(self.n_pairs, dim=1)
        x, off = self.of(output), 3 * unit * (first.abs() + abs(self.factor) * second.abs())
        length = (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
        moved = off + x.abs() / length * off.square().mean(dim=-1, keepdim=True).sqrt()
        return abs(self.gain) * (moved + 4 * unit * x.abs()) / length


def joined(x: Float[Tensor, "queries pairs d_value"], gain: float, eps: float) -> Tensor:
    """Differences through the norm of their pair."""
    return gain * x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()
