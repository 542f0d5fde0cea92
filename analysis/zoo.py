"""A rival of softmax in the place of one captured head's attention: its map, and how far it is from the head's own."""

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

LARGEST = 256  # tokens drawn: of a longer text as many, as if nothing stood around them
SMALL = 0.01  # of the largest singular value: smaller ones do not count for the numerical rank
NAMED = 3  # cells where a rival looks and softmax does not

Weights = Float[np.ndarray, "tokens tokens"]


@dataclass(frozen=True, eq=False)
class CellDifference:
    """A query, a key, and how much more of the variant lies there than of softmax."""

    query: int
    key: int
    more: float


@dataclass(frozen=True, eq=False)
class Compared:
    """One map, and numbers of it. ``weights`` is NaN where the head's mask hides a cell that the map leaves at 0.

    ``difference`` is from softmax, of shares (sizes that sum to 1 in a row) where the variant is signed. ``error`` is
    ‖output − softmax's‖ / ‖softmax's‖ over all tokens that look at any, ``direction`` the mean cosine of a token's two
    outputs, 0 where the variant's is 0 and left out where softmax's is. ``entropy`` is of the shares, in bits, the mean
    over the tokens that look somewhere; ``elsewhere`` the mean share that lies where softmax's does not. ``rank``
    counts singular values above ``SMALL`` of the largest. ``looks`` are the cells with the largest ``difference``, as a
    map of it shows them.
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
    """The head's own q, k and v, rotated as the model uses them, with its scores and its mask, in float64.

    Of a text of more than ``LARGEST`` tokens so many from ``first`` on, as if nothing stood before them. Raises
    NoWeights, NoSuchPlace, NoSoftmax.
    """
    record = capture.record(layer)
    capture.check_softmax(layer, head)
    part = slice(first, min(len(capture.tokens), first + LARGEST))
    return record.as_head(head, part, record.layer(part))


def whole_head(capture: Capture, layer: int, head: int) -> LongHead:
    """The head's q, k and v over the whole text, however long, as one that looks back; no scores are held."""
    record = capture.record(layer)
    kv_head = head // record.group
    q, k, v = (one.double().cpu() for one in (record.q[head], record.k[kv_head], record.v[kv_head]))
    return LongHead(q, k, v, causal=True)


def own(head: Head) -> Compared:
    """Softmax as the head has it, compared with itself."""
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
    """A map and an output beside the head's own."""
    usual = head.softmax()
    expected = usual @ head.v
    shares, usual_shares = _shares(weights), _shares(usual)
    hidden = ~head.keep & (weights == 0)
    looking = head.keep.any(-1)  # of two joined texts the tokens of one alone
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
    """Sizes that sum to 1 in each row; a row of nothing stays nothing."""
    sizes = weights.abs()
    total = sizes.sum(-1, keepdim=True)
    return sizes / torch.where(total == 0, 1.0, total)


def _entropy(shares: Tensor) -> Tensor:
    """Bits of each row; NaN of a row of nothing."""
    return torch.where(shares.sum(-1) > 0, entropy(shares), torch.nan)


def _mean(values: Tensor) -> float:
    return float(values.nanmean())


def _rank(weights: Tensor) -> int:
    sizes = torch.linalg.svdvals(weights)
    return int((sizes > SMALL * sizes[0]).sum())


def _largest(moved: Tensor) -> tuple[CellDifference, ...]:
    """The cells with the most that softmax has not; none of those that have no more."""
    most, places = moved.flatten().topk(min(NAMED, moved.numel()))
    n_tokens = moved.shape[1]
    found = zip(most.tolist(), places.tolist(), strict=True)
    return tuple(CellDifference(place // n_tokens, place % n_tokens, more) for more, place in found if more > 1e-6)
