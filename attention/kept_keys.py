"""Formulas for the number of keys that a query at a position attends to, for the patterns of the table."""

from __future__ import annotations

from torch import Tensor


def last(q_idx: Tensor, window: int) -> Tensor:
    """For a window that ends with the query."""
    return (q_idx + 1).clamp(max=window)


def near_and_far(apart: Tensor, window: int, gap: int) -> Tensor:
    """For a window and further keys ``gap`` positions apart, up to a maximum distance; none below 0."""
    near = (apart + 1).clamp(min=0, max=window)
    far = apart.clamp(max=(window - 1) * gap) // gap - (window - 1) // gap  # those within the window are counted once
    return near + far.clamp(min=0)


def local_dilated_global(q_idx: Tensor, window: int, gap: int, shared: int) -> Tensor:
    """For the first tokens, and the near and far keys after them."""
    return (q_idx + 1).clamp(max=shared) + near_and_far(q_idx - shared, window, gap)


def around_sinks(q_idx: Tensor, n_tokens: int, window: int, sinks: int) -> Tensor:
    """For a window on both sides and the first tokens of the text."""
    first = (q_idx - window + 1).clamp(min=0)
    near = (q_idx + window).clamp(max=n_tokens) - first
    return near + first.clamp(max=sinks) + (min(sinks, n_tokens) - q_idx - window).clamp(min=0)


def around_blocks(q_idx: Tensor, n_tokens: int, stride: int, summary: int) -> Tensor:
    """For the query's own block, and the summary keys of all others; the last block may be incomplete."""
    block = (n_tokens - q_idx // stride * stride).clamp(max=stride)
    own = (block - (stride - min(summary, stride))).clamp(min=0)
    full, part = divmod(n_tokens, stride)
    return block + full * min(summary, stride) + max(0, part - (stride - min(summary, stride))) - own


def with_random(q_idx: Tensor, sure: Tensor, count: int) -> Tensor:
    """Expected number of keys: those that are always kept, and the others drawn at least once."""
    n_keys = q_idx + 1
    return sure + (n_keys - sure) * (1 - (1 - 1 / n_keys) ** count)
