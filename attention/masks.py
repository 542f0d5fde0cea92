"""Mask rules: which keys a query may attend to, as a function of indices, so that any tile is cheap.

A rule has transformers' own signature ``rule(batch, head, q_idx, k_idx) -> keep`` on broadcastable index tensors;
``keep`` is True where the query may attend. The rules here are values that compose, ``And(Causal(), Recent(4))``: equal
ones keep the same cells, and they can be serialized.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor

Rule = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Full:
    """Every query attends to every key (encoders)."""

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (q_idx >= 0) & (k_idx >= 0)


@dataclass(frozen=True)
class Causal:
    """A query attends to itself and to earlier keys."""

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return k_idx <= q_idx


@dataclass(frozen=True)
class Recent:
    """A query attends to the last ``window`` keys (itself included) and to the first ``sinks`` of the text.

    Keys after the query are not affected: compose it with :class:`Causal`. (Xiao et al. 2023, arXiv:2309.17453)
    """

    window: int
    sinks: int = 0

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (k_idx > q_idx - self.window) | (k_idx < self.sinks)


@dataclass(frozen=True)
class Band:
    """A query attends to keys at most ``distance`` positions away, on either side."""

    distance: int

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (q_idx - k_idx).abs() <= self.distance


@dataclass(frozen=True)
class Across:
    """Cross-attention in a row of two texts: the second, from ``start`` on, attends to the first."""

    start: int

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (q_idx >= self.start) & (k_idx < self.start)


@dataclass(frozen=True)
class SameChunk:
    """A query attends to the keys of its own chunk of ``size`` positions."""

    size: int

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return q_idx // self.size == k_idx // self.size


@dataclass(frozen=True)
class SameDocument:
    """A query attends to the keys of its own document; documents start at ``starts``, the first one at 0."""

    starts: tuple[int, ...]

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        apart = (q_idx < 0) & (k_idx < 0)  # all False, since positions are not negative
        for start in self.starts:
            apart = apart | ((q_idx >= start) != (k_idx >= start))
        return ~apart


@dataclass(frozen=True)
class BlockSparse:
    """A query attends to its own block of ``size`` positions, of ``n_blocks``, the adjacent ones, the first and the
    last.

    Queries of the first and the last block attend to every key. Those of block b also attend to the blocks ``drawn[b -
    1]``, which may coincide with the others; their keys then count several times. (Zaheer et al. 2020,
    arXiv:2007.14062, section 2)
    """

    size: int
    n_blocks: int
    drawn: tuple[tuple[int, ...], ...]

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return self.counts(batch, head, q_idx, k_idx) > 0

    def counts(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        """How many times a query's softmax counts a key."""
        query, key, last = q_idx // self.size, k_idx // self.size, self.n_blocks - 1
        everywhere = (query == 0) | (query == last)
        near = ((query - key).abs() <= 1) | (key == 0) | (key == last)
        drawn = torch.tensor(self.drawn, device=q_idx.device)[(query - 1).clamp(0, self.n_blocks - 3)]
        return (everywhere | near).long() + (drawn == key[..., None]).sum(dim=-1) * ~everywhere

    @property
    def most(self) -> int:
        """Upper bound of :meth:`counts`."""
        return 1 + max(map(len, self.drawn))


@dataclass(frozen=True)
class BlocksAndGlobals:
    """A text query attends to its own block of ``size`` positions and to the global tokens, which follow the text.

    The text starts at 0 with a block that lacks its first ``missing`` positions; ``first_global`` is the first global
    token's position. Global tokens attend to every key. (Phang et al. 2022, arXiv:2208.04347, section 3)
    """

    size: int
    missing: int
    first_global: int

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        same = (q_idx + self.missing) // self.size == (k_idx + self.missing) // self.size
        return same | (q_idx >= self.first_global) | (k_idx >= self.first_global)


@dataclass(frozen=True, eq=False)
class SortedChunks:
    """LSH attention: in each hashing round, a head sorts the tokens by bucket, and a query attends to nearby chunks.

    ``places[h, r, t]`` is the position of token t in the order of round r of head h, with the rounds concatenated. The
    order is split into ``n_chunks`` chunks of ``size`` and is circular: the last chunk precedes the first. A query
    attends to its own chunk, ``before`` chunks before it and ``after`` after it, with ``causal`` to no later tokens,
    and to itself where ``itself[h, t]`` is True. ``buckets[h, r, t]`` is the bucket of token t in round r; None if
    chunks are of the unsorted text. (Kitaev et al. 2020, arXiv:2001.04451, section 2)
    """

    places: Int[Tensor, "heads rounds tokens"]
    itself: Bool[Tensor, "heads tokens"]
    size: int
    n_chunks: int
    before: int
    after: int
    causal: bool
    buckets: Int[Tensor, "heads rounds tokens"] | None = None

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return self.counts(batch, head, q_idx, k_idx) > 0

    def counts(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        """How many times a query's softmax counts a key: once for each time that they are near each other."""
        found = self.near((self.places[head.cpu()] // self.size).to(q_idx.device), q_idx, k_idx)
        if self.causal:
            found = found * (k_idx <= q_idx)
        return found * ((q_idx != k_idx) | self.itself[head.cpu()].to(q_idx.device)[q_idx])

    def near(self, chunks: Int[Tensor, "rounds tokens"], q_idx: Tensor, k_idx: Tensor) -> Tensor:
        """How often two tokens are near each other in the order, a token near itself included."""
        found = torch.zeros_like(q_idx + k_idx)
        for of_query in chunks:
            for of_key in chunks:
                away = (of_key[k_idx] - of_query[q_idx] + self.before) % self.n_chunks
                # the ring may be shorter than the neighbourhood
                for step in range(0, self.before + self.after + 1, self.n_chunks):
                    found = found + (away + step <= self.before + self.after)
        return found

    @property
    def most(self) -> int:
        """Upper bound of :meth:`counts`."""
        rounds = self.places.shape[1]
        return rounds * rounds * (1 + (self.before + self.after) // self.n_chunks)


@dataclass(frozen=True)
class Without:
    """Every cell except these, each given by a query and a key."""

    cells: tuple[tuple[int, int], ...]

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        kept = (q_idx >= 0) & (k_idx >= 0)
        for query, key in self.cells:
            kept = kept & ~((q_idx == query) & (k_idx == key))
        return kept


@dataclass(frozen=True, eq=False)
class Written:
    """An explicit mask, eight keys per byte, the first in the lowest bit; cells beyond it do not exist."""

    bits: UInt8[Tensor, "queries bytes"]

    @classmethod
    def of(cls, keep: Bool[Tensor, "queries keys"]) -> Written:
        """Pack these cells."""
        padded = torch.nn.functional.pad(keep.to(torch.uint8), (0, -keep.shape[1] % 8))
        places = torch.arange(8, dtype=torch.uint8, device=keep.device)
        return cls((padded.unflatten(1, (-1, 8)) << places).sum(dim=-1, dtype=torch.uint8))

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        return (self.bits.to(q_idx.device)[q_idx, k_idx // 8] >> (k_idx % 8).to(torch.uint8)) & 1 > 0


@dataclass(frozen=True, eq=False)
class LargestKeys:
    """A query attends to the keys whose value is at least the threshold of its row; each head has its own values.

    If several keys have exactly the threshold, some may be left out: ``left_out`` lists these cells. (Doge's dynamic
    mask, Shi et al. 2025, arXiv:2508.02124)
    """

    values: Float[Tensor, "kv_heads keys"]
    least: Float[Tensor, "kv_heads queries"]
    group: int  # heads that share a row
    left_out: Int[Tensor, "cells 3"]  # row of ``values``, query, key

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        row = int(head) // self.group
        keep = self.values[row].to(q_idx.device)[k_idx] >= self.least[row].to(q_idx.device)[q_idx]
        cells = self.left_out[self.left_out[:, 0] == row].to(q_idx.device)
        if len(cells):
            stride = self.values.shape[1]
            keep = keep & ~torch.isin(q_idx * stride + k_idx, cells[:, 1] * stride + cells[:, 2])
        return keep


@dataclass(frozen=True, eq=False)
class Chosen:
    """From query ``start`` on, a query attends to the keys selected for it; there are no queries beyond the last row.

    Queries before ``start`` attend to every key. (DeepSeek-V3.2's sparse attention, arXiv:2512.02556, section 2.1)
    """

    keys: Int[Tensor, "queries chosen"]  # ascending within a row
    start: int = 0

    @classmethod
    def of(cls, keys: Int[Tensor, "queries chosen"], start: int = 0) -> Chosen:
        """These keys in any order, as int32."""
        return cls(keys.sort(dim=-1).values.to(torch.int32), start)

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        """O(cells + rows × chosen) memory: each row's keys are part of one sorted list, which is searched."""
        q, k = torch.broadcast_tensors(q_idx, k_idx)
        every = q < self.start
        if q.numel() == 0:
            return every
        first = max(int(q_idx.min()) - self.start, 0)
        rows = self.keys[first : max(int(q_idx.max()) - self.start + 1, first)].to(q.device, torch.long)
        if rows.numel() == 0:
            return every
        stride = max(int(rows.max()), int(k_idx.max())) + 1
        listed = (rows + stride * torch.arange(len(rows), device=q.device)[:, None]).flatten()
        row = q - self.start - first
        cell = row * stride + k
        place = torch.searchsorted(listed, cell).clamp(max=len(listed) - 1)
        return every | ((row >= 0) & (row < len(rows)) & (listed[place] == cell))


@dataclass(frozen=True)
class ClosedBlocks:
    """Each key stands for a block of ``size`` tokens; a query attends to it once the block is complete.

    The first key is at ``first_key``, the first query at ``first_query``; cells before them are masked. (DeepSeek-V4's
    compressed keys, sections 2.3.1 and 2.3.2)
    """

    size: int
    first_key: int = 0
    first_query: int = 0

    def __call__(self, batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        query, key = q_idx - self.first_query, k_idx - self.first_key
        return (key >= 0) & (query >= 0) & (key < (query + 1) // self.size)


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
    """A query attends to the last ``window`` keys; the window counts the query itself, so 1 keeps only the query."""
    return And(Causal(), Recent(window))


def window_of(rule: Rule) -> int | None:
    """The number of keys, the query included, that the rule's window keeps; None: no window."""
    if isinstance(rule, And):
        return min((one for one in map(window_of, (rule.first, rule.second)) if one is not None), default=None)
    return rule.window if isinstance(rule, Recent) and rule.sinks == 0 else None


def moved(rule: Rule, *, queries: int = 0, keys: int = 0) -> Rule:
    """The rule with its queries and keys offset by these numbers of positions.

    Raises TypeError for a rule that uses one index for both.
    """
    if isinstance(rule, And):
        return And(moved(rule.first, queries=queries, keys=keys), moved(rule.second, queries=queries, keys=keys))
    if isinstance(rule, ClosedBlocks):
        return ClosedBlocks(rule.size, rule.first_key + keys, rule.first_query + queries)
    if isinstance(rule, Chosen):
        return Chosen(rule.keys + keys, rule.start + queries)
    if isinstance(rule, Written) and keys == 0:
        return Written(torch.nn.functional.pad(rule.bits, (0, 0, queries, 0)))
    raise TypeError(f"{type(rule).__name__} counts queries and keys alike")


def n_heads(rule: Rule) -> int | None:
    """How many heads the rule distinguishes; None: all heads have the same mask."""
    if isinstance(rule, (And, Or)):
        return n_heads(rule.first) or n_heads(rule.second)
    if isinstance(rule, LargestKeys):
        return len(rule.values) * rule.group
    return len(rule.places) if isinstance(rule, SortedChunks) else None


def chosen_of(rule: Rule) -> Chosen | None:
    """The key selection that a rule contains, or None."""
    if isinstance(rule, And):
        return next((one for one in map(chosen_of, (rule.first, rule.second)) if one is not None), None)
    return rule if isinstance(rule, Chosen) else None


def before_choice(rule: Rule) -> Rule:
    """The rule before keys were selected; the rule itself if none were."""
    return rule.first if isinstance(rule, And) and isinstance(rule.second, Chosen) else rule


def sees_ahead(rule: Rule) -> bool:
    """Return True if the rule is not causal: it lets queries attend to later keys.

    Decided by the rule's type, whatever single cells it masks; for types from outside this module, by the first query's
    next key.
    """
    if isinstance(rule, And):
        return sees_ahead(rule.first) and sees_ahead(rule.second)
    if isinstance(rule, Or):
        return sees_ahead(rule.first) or sees_ahead(rule.second)
    if isinstance(rule, SortedChunks):  # hashing may separate any two tokens
        return not rule.causal
    if isinstance(rule, Written):
        n_queries, n_keys = rule.bits.shape[0], rule.bits.shape[1] * 8
        return bool(tile(rule, slice(0, n_queries), slice(0, n_keys), device=rule.bits.device).triu(1).any())
    if isinstance(rule, Without | LargestKeys | Chosen | SameDocument):  # these do not depend on the order
        return True
    return bool(tile(rule, slice(0, 1), slice(1, 2)).item())


def tile(
    rule: Rule, queries: slice, keys: slice, *, head: int = 0, device: torch.device | str = "cpu"
) -> Bool[Tensor, "queries keys"]:
    """Evaluate the rule on one tile, for batch 0 and one head; slices need explicit non-negative bounds."""
    q_idx = torch.arange(queries.start, queries.stop, device=device)[:, None]
    k_idx = torch.arange(keys.start, keys.stop, device=device)[None, :]
    zero = torch.zeros((), dtype=torch.long, device=device)
    return rule(zero, zero + head, q_idx, k_idx).expand(q_idx.shape[0], k_idx.shape[1])


def counts(
    rule: BlockSparse | SortedChunks, heads: slice, queries: slice, keys: slice, *, device: torch.device | str = "cpu"
) -> Int[Tensor, "heads queries keys"]:
    """How many times the softmax counts each cell of a tile; slices need explicit non-negative bounds."""
    q_idx = torch.arange(queries.start, queries.stop, device=device)[:, None]
    k_idx = torch.arange(keys.start, keys.stop, device=device)[None, :]
    zero = torch.zeros((), dtype=torch.long, device=device)
    if n_heads(rule) is None:
        return rule.counts(zero, zero, q_idx, k_idx).expand(heads.stop - heads.start, len(q_idx), k_idx.shape[1])
    return torch.stack([rule.counts(zero, zero + head, q_idx, k_idx) for head in range(heads.start, heads.stop)])
