"""Mask rules: which key a query may attend to, as a function of indices, so that any tile is cheap.

A rule has transformers' own signature ``rule(batch, head, q_idx, k_idx) -> keep`` on broadcastable index tensors;
``keep`` is True where the query may look. Rules compose with :func:`both` and :func:`either`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool
from torch import Tensor

Rule = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def full(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
    """Every query sees every key (encoders)."""
    return (q_idx >= 0) & (k_idx >= 0)


def causal(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
    """A query sees itself and what came before it."""
    return k_idx <= q_idx


def sliding_window(window: int) -> Rule:
    """A query sees the last ``window`` keys; the window counts the query itself, so 1 keeps only the query."""

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (k_idx <= q_idx) & (k_idx > q_idx - window)

    return rule


def recent(window: int, *, sinks: int = 0) -> Rule:
    """A query sees no key older than the last ``window`` (itself included), except the first ``sinks`` of the text.

    Says nothing about keys after the query: compose it with :func:`causal`. (Xiao et al. 2023, arXiv:2309.17453)
    """

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (k_idx > q_idx - window) | (k_idx < sinks)

    return rule


def same_document(starts: Sequence[int]) -> Rule:
    """A query sees the keys of its own document; each document begins at one of ``starts``, the first one at 0."""

    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        apart = (q_idx < 0) & (k_idx < 0)  # nowhere: positions are not negative
        for start in starts:
            apart = apart | ((q_idx >= start) != (k_idx >= start))
        return ~apart

    return rule


def both(first: Rule, second: Rule) -> Rule:
    """Keep what both rules keep."""
    return lambda batch, head, q_idx, k_idx: first(batch, head, q_idx, k_idx) & second(batch, head, q_idx, k_idx)


def either(first: Rule, second: Rule) -> Rule:
    """Keep what at least one rule keeps."""
    return lambda batch, head, q_idx, k_idx: first(batch, head, q_idx, k_idx) | second(batch, head, q_idx, k_idx)


def tile(
    rule: Rule, queries: slice, keys: slice, *, device: torch.device | str = "cpu"
) -> Bool[Tensor, "queries keys"]:
    """The rule evaluated on one tile, for batch 0 and head 0; slices carry explicit non-negative bounds."""
    q_idx = torch.arange(queries.start, queries.stop, device=device)[:, None]
    k_idx = torch.arange(keys.start, keys.stop, device=device)[None, :]
    zero = torch.zeros((), dtype=torch.long, device=device)
    return rule(zero, zero, q_idx, k_idx).expand(q_idx.shape[0], k_idx.shape[1])
