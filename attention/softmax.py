"""Exact softmax attention by tile: scores, log-sum-exp and weights of any block of cells, from q, k and v alone.

No function here allocates a queries × keys matrix larger than its caller asks for. Grouped-query attention (Ainslie et
al. 2023, arXiv:2305.13245) follows from the shapes: query head h uses key/value head h // (heads // kv_heads).
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def scores(
    q: Float[Tensor, "heads queries d_head"],
    k: Float[Tensor, "kv_heads keys d_head"],
    *,
    scale: float,
    softcap: float | None = None,
    bias: Float[Tensor, "heads queries keys"] | None = None,
    keep: Bool[Tensor, "*heads queries keys"] | None = None,
) -> Float[Tensor, "heads queries keys"]:
    """Scaled, soft-capped and masked scores: ``softcap · tanh(q·k · scale / softcap)``, in at least float32.

    −inf where masked. The order scale → soft-cap → mask is Gemma 2's (arXiv:2408.00118, section 2); a ``bias`` is added
    before the mask, as in T5 (arXiv:1910.10683, section 2.1).
    """
    heads, n_queries, d_head = q.shape
    accurate = torch.promote_types(q.dtype, torch.float32)
    grouped = q.to(accurate).reshape(k.shape[0], -1, d_head)  # (kv_heads, group * queries, d_head)
    raw = torch.matmul(grouped, k.to(accurate).transpose(-1, -2)).reshape(heads, n_queries, k.shape[1])
    raw = raw.mul_(scale)
    if softcap is not None:
        raw = raw.div_(softcap).tanh_().mul_(softcap)
    if bias is not None:
        raw = raw.add_(bias)
    if keep is not None:
        raw = raw.masked_fill_(~keep, float("-inf"))
    return raw


def log_sum_exp(
    scores: Float[Tensor, "heads queries keys"], sinks: Float[Tensor, "heads *queries"] | None = None
) -> Float[Tensor, "heads queries"]:
    """Natural log of each row's softmax denominator; a sink counts as one more key without a value.

    −inf for an empty row. Learned sinks as in gpt-oss (arXiv:2508.10925, section 2), or one per query.
    """
    rows = torch.logsumexp(scores, dim=-1)
    return rows if sinks is None else torch.logaddexp(rows, sinks.to(rows).reshape(len(rows), -1).expand_as(rows))


def weights(
    scores: Float[Tensor, "heads queries keys"], lse: Float[Tensor, "heads queries"]
) -> Float[Tensor, "heads queries keys"]:
    """``exp(score − lse)``, in 0..1; 0 in empty rows, as in scaled_dot_product_attention.

    Scores of a hundred (T5 does not scale them) have an error of some 1e-5, by which the weight of a dominant key could
    exceed 1; it is clamped.
    """
    finite = torch.where(torch.isneginf(lse), torch.zeros_like(lse), lse)
    return torch.exp(scores - finite[..., None]).clamp_(max=1.0)


def attend(
    weights: Float[Tensor, "heads queries keys"], v: Float[Tensor, "kv_heads keys d_value"]
) -> Float[Tensor, "heads queries d_value"]:
    """The weighted sums of the values, one row per head and query."""
    heads, n_queries, n_keys = weights.shape
    grouped = weights.reshape(v.shape[0], -1, n_keys)
    return torch.matmul(grouped, v.to(weights.dtype)).reshape(heads, n_queries, v.shape[-1])
