"""Mask rules: which key a query may attend to, as a function of indices, so that any tile is cheap.

A rule has transformers' own signature ``rule(batch, head, q_idx, k_idx) -> keep`` on broadcastable index tensors;
``keep`` is True where the query may look. The rules here are values that compose, ``And(Causal(), Recent(4))``: equal
ones keep the same cells, and they can be written down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, UInt8
from torch import Tensor

Rule = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Full:
    """Every query sees every key (encoders)."""

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (q_idx >= 0) & (k_idx >= 0)


@dataclass(frozen=True)
class Causal:
    """A query sees itself and what came before it."""

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return k_idx <= q_idx


@dataclass(frozen=True)
class Recent:
    """A query sees no key older than the last ``window`` (itself included), except the first ``sinks`` of the text.

    Says nothing about keys after the query: compose it with :class:`Causal`. (Xiao et al. 2023, arXiv:2309.17453)
    """

    window: int
    sinks: int = 0

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (k_idx > q_idx - self.window) | (k_idx < self.sinks)


@dataclass(frozen=True)
class Near:
    """A query sees the keys at most ``distance`` positions away, on either side."""

    distance: int

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (q_idx - k_idx).abs() <= self.distance


@dataclass(frozen=True)
class Across:
    """Of two texts in a row the second, from ``start`` on, sees the first: a decoder's look at what was read."""

    start: int

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (q_idx >= self.start) & (k_idx < self.start)


@dataclass(frozen=True)
class SameChunk:
    """A query sees the keys of its own chunk of ``size`` positions."""

    size: int

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return q_idx // self.size == k_idx // self.size


@dataclass(frozen=True)
class SameDocument:
    """A query sees the keys of its own document; each document begins at one of ``starts``, the first one at 0."""

    starts: tuple[int, ...]

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        apart = (q_idx < 0) & (k_idx < 0)  # nowhere: positions are not negative
        for start in self.starts:
            apart = apart | ((q_idx >= start) != (k_idx >= start))
        return ~apart


@dataclass(frozen=True)
class Without:
    """Every cell but these, each a query and a key."""

    cells: tuple[tuple[int, int], ...]

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        kept = (q_idx >= 0) & (k_idx >= 0)
        for query, key in self.cells:
            kept = kept & ~((q_idx == query) & (k_idx == key))
        return kept


@dataclass(frozen=True, eq=False)
class Written:
    """A mask written out, eight keys to a byte, the first in the lowest bit; there are no cells beyond it."""

    bits: UInt8[Tensor, "queries bytes"]

    @classmethod
    def of(cls, keep: Bool[Tensor, "queries keys"]) -> Written:
        """These cells."""
        padded = torch.nn.functional.pad(keep.to(torch.uint8), (0, -keep.shape[1] % 8))
        places = torch.arange(8, dtype=torch.uint8, device=keep.device)
        return cls((padded.unflatten(1, (-1, 8)) << places).sum(dim=-1, dtype=torch.uint8))

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (self.bits.to(q_idx.device)[q_idx, k_idx // 8] >> (k_idx % 8).to(torch.uint8)) & 1 > 0


@dataclass(frozen=True)
class And:
    """Keep what both rules keep."""

    first: Rule
    second: Rule

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return self.first(batch, head, q_idx, k_idx) & self.second(batch, head, q_idx, k_idx)


@dataclass(frozen=True)
class Or:
    """Keep what at least one rule keeps."""

    first: Rule
    second: Rule

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return self.first(batch, head, q_idx, k_idx) | self.second(batch, head, q_idx, k_idx)


def sliding_window(window: int) -> And:
    """A query sees the last ``window`` keys; the window counts the query itself, so 1 keeps only the query."""
    return And(Causal(), Recent(window))


def window_of(rule: Rule) -> int | None:
    """How many keys back the rule lets a query look, the query itself included; None: as far as there are any."""
    if isinstance(rule, And):
        return min((one for one in map(window_of, (rule.first, rule.second)) if one is not None), default=None)
    return rule.window if isinstance(rule, Recent) and rule.sinks == 0 else None


def sees_ahead(rule: Rule) -> bool:
    """Whether the rule shows keys after the query, as an encoder's does; asked of the first query and the next key."""
    return bool(tile(rule, slice(0, 1), slice(1, 2)).item())


def tile(
    rule: Rule, queries: slice, keys: slice, *, device: torch.device | str = "cpu"
) -> Bool[Tensor, "queries keys"]:
    """The rule evaluated on one tile, for batch 0 and head 0; slices carry explicit non-negative bounds."""
    q_idx = torch.arange(queries.start, queries.stop, device=device)[:, None]
    k_idx = torch.arange(keys.start, keys.stop, device=device)[None, :]
    zero = torch.zeros((), dtype=torch.long, device=device)
    return rule(zero, zero, q_idx, k_idx).expand(q_idx.shape[0], k_idx.shape[1])
