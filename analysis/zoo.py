"""A softmax alternative in one captured head: its map, and how far it is from the head's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention.distributions import entropy
from attention.zoo.head import Head
from attention.zoo.long_head import LongHead
from attention.zoo.variant import Variant
from model_runner import Capture

LARGEST = 256  # tokens drawn of a longer text, which are then treated as the whole text
SMALL = 0.01  # of the largest singular value: smaller ones do not count for the numerical rank
NAMED = 3  # cells where a variant's weight exceeds softmax's

Weights = Float[np.ndarray, "tokens tokens"]


@dataclass(frozen=True, eq=False)
class CellDifference:
    """A query, a key, and the excess of the variant's weight over softmax's."""

    query: int
    key: int
    more: float


@dataclass(frozen=True, eq=False)
class Compared:
    """One map, and its numbers. ``weights`` is NaN where the head's mask hides a cell that the map leaves at 0.

    ``difference`` is from softmax, with normalized magnitudes if the variant is signed. ``error`` is ‖output −
    softmax's‖ / ‖softmax's‖ over all tokens with keys, ``direction`` the mean cosine of a token's two outputs, 0 where
    the variant's is 0 and left out where softmax's is. ``entropy`` is of the shares, in bits, averaged over non-empty
    rows; ``elsewhere`` is the mean total variation distance from softmax. ``rank`` counts singular values above
    ``SMALL`` of the largest. ``looks`` are the cells with the largest ``difference``.
    """

    weights: Weights
    difference: Weights
    output: Float[np.ndarray, "tokens d_value"]
    error: float
    direction: float
    entropy: float
    elsewhere: float
    rank: int
    looks: tuple[CellDifference, ...]


def captured_head(capture: Capture, layer: int, head: int, first: int = 0) -> Head:
    """The head's own q, k and v, rotated as in the model, with its scores and its mask, in float64.

    For a text of more than ``LARGEST`` tokens, as many from ``first`` on, treated as the whole text. Raises NoWeights,
    NoSuchPlace, NoSoftmax.
    """
    record = capture.record(layer)
    capture.check_softmax(layer, head)
    part = slice(first, min(len(capture.tokens), first + LARGEST))
    return record.as_head(head, part, record.layer(part))


def whole_head(capture: Capture, layer: int, head: int) -> LongHead:
    """The head's q, k and v over a text of any length, as a causal head; no scores are stored."""
    record = capture.record(layer)
    kv_head = head // record.group
    q, k, v = (one.double().cpu() for one in (record.q[head], record.k[kv_head], record.v[kv_head]))
    return LongHead(q, k, v, causal=True)


def own(head: Head) -> Compared:
    """The head's own softmax, compared with itself."""
    weights = head.softmax()
    return compared(head, weights, weights @ head.v)


def substituted(head: Head, variant: Variant, values: Mapping[str, int]) -> Compared:
    """Replace softmax by the variant. Raises VariantNotPossible."""
    weights, output = variant.on(head, values)
    return compared(head, weights, output, signed=variant.signed)


def compared(
    head: Head,
    weights: Float[Tensor, "tokens tokens"],
    output: Float[Tensor, "tokens d_value"],
    *,
    signed: bool = False,
) -> Compared:
    """A map and an output compared with the head's own."""
    usual = head.softmax()
    expected = usual @ head.v
    shares, usual_shares = _shares(weights), _shares(usual)
    hidden = ~head.keep & (weights == 0)
    looking = head.keep.any(-1)  # in two combined texts only one has queries
    moved = shares - usual_shares
    difference = moved if signed else weights - usual
    turned = looking & (expected != 0).any(-1)
    return Compared(
        weights=weights.masked_fill(hidden, torch.nan).numpy(),
        difference=difference.masked_fill(hidden, torch.nan).numpy(),
        output=output.numpy(),
        error=float((output - expected)[looking].norm() / expected.norm()),
        direction=_mean(torch.cosine_similarity(output[turned], expected[turned], dim=-1, eps=1e-300)),
        entropy=_mean(_entropy(shares[looking])),
        elsewhere=float(moved[looking].clamp(min=0).sum(-1).mean()),
        rank=_rank(weights),
        looks=_largest(difference.masked_fill(~looking[:, None], 0.0)),
    )


def _shares(weights: Tensor) -> Tensor:
    """Magnitudes normalized to a sum of 1 in each row; a zero row stays."""
    sizes = weights.abs()
    total = sizes.sum(-1, keepdim=True)
    return sizes / torch.where(total == 0, 1.0, total)


def _entropy(shares: Tensor) -> Tensor:
    """Bits of each row; NaN for a zero row."""
    return torch.where(shares.sum(-1) > 0, entropy(shares), torch.nan)


def _mean(values: Tensor) -> float:
    return float(values.nanmean())


def _rank(weights: Tensor) -> int:
    sizes = torch.linalg.svdvals(weights)
    return int((sizes > SMALL * sizes[0]).sum())


def _largest(moved: Tensor) -> tuple[CellDifference, ...]:
    """The cells in which the variant's weight exceeds softmax's most."""
    most, places = moved.flatten().topk(min(NAMED, moved.numel()))
    n_tokens = moved.shape[1]
    found = zip(most.tolist(), places.tolist(), strict=True)
    return tuple(CellDifference(place // n_tokens, place % n_tokens, more) for more, place in found if more > 1e-6)
