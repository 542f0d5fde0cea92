"""Other views of a head: as a soft dictionary, with exchanged matrices, and as two low-rank matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from analysis.added_positions import NOT_A_PRODUCT, HeadReads
from model_runner.capture import Capture
from model_runner.errors import NotSeparable
from model_runner.projection_questions import HeadMatrices

Matrices = Literal["own", "same", "none"]


@dataclass(frozen=True, eq=False)
class Lookup:
    """One query's weights at a temperature, 0 where masked, and the weighted sum of its values."""

    weights: Float[np.ndarray, "keys"]
    mixture: Float[np.ndarray, "d_value"]
    best: int  # the key of a hard lookup


def look_up(capture: Capture, layer: int, head: int, query: int, temperature: float) -> Lookup:
    """softmax(scores / temperature): 0 takes only the best key, ∞ the mean of all visible ones. Raises NoSoftmax."""
    capture.check_softmax(layer, head)
    record = capture.record(layer)
    scores = capture.scores(layer, head)[query].double().cpu()
    seen = torch.isfinite(scores)
    best = int(scores.masked_fill(~seen, -math.inf).argmax())
    if temperature == 0:
        weights = torch.nn.functional.one_hot(torch.tensor(best), len(scores)).double()
    elif math.isinf(temperature):
        weights = seen.double() / seen.sum()
    else:
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf) / temperature, 0)
    values = record.v[head // record.group].double().cpu()
    return Lookup(weights.numpy(), (weights @ values).numpy(), best)


def exchanged_scores(reads: HeadReads, matrices: Matrices) -> Float[np.ndarray, "queries keys"]:
    """x W_Q (x W_K)ᵀ · scale with the head's own matrices, with W_Q for both, or x xᵀ ÷ √d without matrices."""
    if matrices == "none":
        return (reads.x @ reads.x.T / math.sqrt(reads.x.shape[1])).numpy()
    w_k = reads.w_q if matrices == "same" else reads.w_k
    return (reads.x @ reads.w_q @ (reads.x @ w_k).T * reads.scale).numpy()


def diagonal_wins(scores: Float[np.ndarray, "queries keys"]) -> int:
    """Number of rows in which the diagonal score is the largest."""
    return int((scores.diagonal() >= scores.max(axis=1) - 1e-12 * np.abs(scores).max()).sum())


@dataclass(frozen=True, eq=False)
class LowRank:
    """The singular values of W_Q W_Kᵀ and W_V W_O, decreasing: d_model × d_model matrices of rank at most d_head."""

    qk: Float[np.ndarray, "d_head"]
    ov: Float[np.ndarray, "d_value"] | None
    d_model: int

    def needed(self, values: Float[np.ndarray, "rank"], share: float = 0.9) -> int:
        """How many of the largest make up this share of the sum of squares."""
        return int(np.searchsorted(np.cumsum(values**2) / (values**2).sum(), share) + 1)


def low_rank(found: HeadMatrices, head: int, kv_head: int) -> LowRank:
    """For one head; O(d_model · d_head²), by decomposing only the product between the two factors.

    Raises NotSeparable.
    """
    if found.q is None or found.k is None:
        raise NotSeparable(reason=NOT_A_PRODUCT)
    ov = None
    if found.v is not None and found.o is not None:
        ov = _singular_values(found.v[kv_head], found.o[head].T)
    return LowRank(_singular_values(found.q[head], found.k[kv_head]), ov, found.q.shape[1])


def _singular_values(left: Tensor, right: Tensor) -> Float[np.ndarray, "rank"]:
    """Singular values of left rightᵀ [d, d]: those of R_left R_rightᵀ, since Q of a QR decomposition is orthogonal."""
    inner = torch.linalg.qr(left.double()).R @ torch.linalg.qr(right.double()).R.T
    return torch.linalg.svdvals(inner).numpy()
