"""Whether what was kept of a layer explains what the model's own attention returned in that same forward."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention import softmax
from model_runner.record import LayerRecord

EAGER_ROUNDINGS = 6  # of a score by eager functions: q·k, scale, soft-cap (3), less the largest of its row


@dataclass(frozen=True)
class Check:
    """Recomputed weights × v against the model's own attention output.

    ``max_abs_error`` is the largest difference, ``tolerance`` what rounding allows where it occurs; ``ok`` says that
    every number is within what rounding allows for that number.
    """

    max_abs_error: float
    tolerance: float
    ok: bool  # False for NaN


def verify(record: LayerRecord, lse: Float[Tensor, "heads queries"], rows: int) -> Check:
    """Recompute a layer's output, ``rows`` queries at a time; O(heads × rows × keys) memory."""
    ok, largest = True, []
    for start in range(0, record.q.shape[1], rows):
        block = slice(start, min(start + rows, record.q.shape[1]))
        error, allowed = _compare(record, lse[:, block], block)
        ok = ok and bool((error <= allowed).all())
        place = int(error.argmax())  # of a NaN where there is one
        largest.append((float(error.flatten()[place]), float(allowed.flatten()[place])))
    max_abs_error, tolerance = max(largest, key=lambda found: (math.isnan(found[0]), found[0]))
    return Check(max_abs_error, tolerance, ok)


def _compare(
    record: LayerRecord, lse: Float[Tensor, "heads block"], block: slice
) -> tuple[Float[Tensor, "heads block d_value"], Float[Tensor, "heads block d_value"]]:
    """The difference of every number of the output, and how much of it rounding alone can explain.

    A score off by δ moves its weight w by at most w·(δ + Σwδ), so an output number by at most Σw·δ·|v| + Σwδ · Σw|v|.
    δ itself is a few float32 units of |q||k|·scale for the two dot products; where the model's eager function ran in a
    coarser dtype, also one of its units of the score's size for every rounding. The model's dtype rounds weights and
    output once each, and weights × v is summed in float32 on both sides.
    """
    own = torch.finfo(record.q.dtype).eps / 2
    exact = torch.finfo(torch.float32).eps
    scores = record.scores(slice(0, record.q.shape[0]), block, slice(0, record.k.shape[1]))
    weights = softmax.weights(scores, lse)
    output = record.output[block].transpose(0, 1).float()  # (heads, block, d_value)
    error = (softmax.attend(weights, record.v) - output).abs()

    longest_k = record.k.float().norm(dim=-1).amax(dim=1).repeat_interleave(record.group)
    dots = record.q[:, block].float().norm(dim=-1) * longest_k[:, None] * record.scale  # (heads, block)
    delta = (8 * exact * dots)[..., None].expand_as(scores)
    if record.eager:
        size = scores.abs() + lse.abs()[..., None]  # the row's largest score is at most its lse
        delta = delta + EAGER_ROUNDINGS * own * torch.where(size.isfinite(), size, 0.0)
    magnitudes = record.v.abs()
    mass = softmax.attend(weights, magnitudes)  # Σw|v|
    moved = softmax.attend(weights * delta, magnitudes) + (weights * delta).sum(dim=-1, keepdim=True) * mass
    return error, moved + (2 * own + 8 * exact) * mass + own * output.abs()
