"""Block sizes and memory traffic of tiled attention for a small fast memory.

FlashAttention (Dao et al. 2022, arXiv:2205.14135) keeps a block of queries, keys, values and outputs in a GPU's SRAM
and reads and writes the rest in its main memory (HBM). Sizes are counts of numbers; bytes depend on the dtype.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Order = Literal["keys", "queries"]  # what the outer loop iterates over


@dataclass(frozen=True)
class Blocks:
    """Queries and keys in a tile; the last ones may have fewer."""

    rows: int
    columns: int


@dataclass(frozen=True)
class Traffic:
    """Numbers read from HBM and written to it."""

    read: int
    written: int

    @property
    def moved(self) -> int:
        return self.read + self.written


def blocks_of(sram: int, d_head: int) -> Blocks:
    """The blocks for an SRAM of this many numbers: ⌈M/4d⌉ keys, and min(⌈M/4d⌉, d) queries (algorithm 1, line 1)."""
    columns = max(1, -(-sram // (4 * d_head)))
    return Blocks(min(columns, d_head), columns)


def held(blocks: Blocks, d_head: int, d_value: int) -> int:
    """Numbers in SRAM while a tile is computed: its four blocks, two sums per query, and the tile itself."""
    return blocks.columns * (d_head + d_value) + blocks.rows * (d_head + d_value + 2 + blocks.columns)


def plain(n_tokens: int, d_head: int, d_value: int) -> Traffic:
    """Attention with its map in HBM (algorithm 0): scores and weights are written and read again, masked or not."""
    vectors, cells = n_tokens * (2 * d_head + d_value), n_tokens**2
    return Traffic(read=vectors + 2 * cells, written=2 * cells + n_tokens * d_value)


def tiled(n_tokens: int, d_head: int, d_value: int, blocks: Blocks, order: Order, *, causal: bool) -> Traffic:
    """Attention by tiles; those that a causal mask hides completely are skipped.

    ``order`` "keys" (Dao et al. 2022, algorithm 1): outputs, maxima and sums are in HBM, and are read and written for
    every tile. "queries" (Dao 2023, arXiv:2307.08691, algorithm 1): they stay in SRAM until a block of queries is done,
    and one number per row is stored. O(tokens / block).
    """
    if order == "keys":
        starts = range(0, n_tokens, blocks.columns)
        rows = sum(n_tokens - (start // blocks.rows * blocks.rows if causal else 0) for start in starts)
        first = n_tokens * (d_value + 2)
        read = n_tokens * (d_head + d_value) + rows * (d_head + d_value + 2)
        return Traffic(read, first + rows * (d_value + 2))
    keys = 0
    for start in range(0, n_tokens, blocks.rows):
        stop = min(start + blocks.rows, n_tokens) if causal else n_tokens
        keys += min(n_tokens, -(-stop // blocks.columns) * blocks.columns)
    return Traffic(n_tokens * d_head + keys * (d_head + d_value), n_tokens * (d_value + 1))
