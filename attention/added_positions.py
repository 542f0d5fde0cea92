"""Positions added to the input vectors: the four terms of a score, and the effect of permuting the tokens.

A score of x + p is (x + p) W_Q ((x + p) W_K)ᵀ: content with content, content with position, position with content,
position with position (Ke et al. 2020, section 2.1, arXiv:2006.15595). Everything is in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True, eq=False)
class FourTerms:
    """Each [queries, keys], scaled; their sum is the score map. Names give the query's part, then the key's."""

    content_content: Float[Tensor, "queries keys"]
    content_position: Float[Tensor, "queries keys"]
    position_content: Float[Tensor, "queries keys"]
    position_position: Float[Tensor, "queries keys"]

    @property
    def total(self) -> Float[Tensor, "queries keys"]:
        return self.content_content + self.content_position + self.position_content + self.position_position


def four_terms(
    x: Float[Tensor, "tokens d_model"],
    p: Float[Tensor, "tokens d_model"],
    w_q: Float[Tensor, "d_model d_head"],
    w_k: Float[Tensor, "d_model d_head"],
    scale: float = 1.0,
) -> FourTerms:
    """The four maps of (x + p) W_Q ((x + p) W_K)ᵀ · ``scale``. O(tokens · d_model · d_head + tokens² · d_head)."""
    q, asked = x.double() @ w_q.double() * scale, p.double() @ w_q.double() * scale
    k, offered = x.double() @ w_k.double(), p.double() @ w_k.double()
    return FourTerms(q @ k.T, q @ offered.T, asked @ k.T, asked @ offered.T)


@dataclass(frozen=True, eq=False)
class Attended:
    """Attention of every token to every token, without a mask, which would encode the order too."""

    weights: Float[Tensor, "queries keys"]
    output: Float[Tensor, "queries d_value"]


def attend_to_all(
    x: Float[Tensor, "tokens d_model"],
    w_q: Float[Tensor, "d_model d_head"],
    w_k: Float[Tensor, "d_model d_head"],
    w_v: Float[Tensor, "d_model d_value"],
    scale: float = 1.0,
) -> Attended:
    """softmax(x W_Q (x W_K)ᵀ · ``scale``) x W_V."""
    x = x.double()
    weights = torch.softmax(x @ w_q.double() @ (x @ w_k.double()).T * scale, dim=-1)
    return Attended(weights, weights @ (x @ w_v.double()))


def moved_outputs(before: Attended, after: Attended, order: Int[Tensor, "tokens"]) -> Float[Tensor, "tokens"]:
    """How far each token's output moved, ‖after − before‖ ÷ ‖before‖, when the tokens are permuted.

    ``order`` gives the token at each position of ``after``; results are in the original order. All 0: equivariant.
    """
    back = torch.empty_like(after.output)
    back[order] = after.output
    return (back - before.output).norm(dim=-1) / before.output.norm(dim=-1).clamp(min=torch.finfo(torch.float64).tiny)
