"""A bias of the scores that also depends on tokens: a term of the query, or of the key, with their distance.

DeBERTa's disentangled attention (He et al. 2021, arXiv:2006.03654, eq. 4) and XLNet's relative positions (Dai et al.
2019, arXiv:1901.02860, section 3.3) are sums of such terms. What is kept is a vector per distance, never a number per
cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

BLOCK = 256  # rows of ``x`` that are multiplied at a time


@dataclass(frozen=True, eq=False)
class DistanceTerm:
    """``scale · (x + added) · table[rows[d]]`` where the key is ``d + first`` places after the query.

    ``x`` is the vector of the query or of the key, according to ``of``.
    """

    of: Literal["query", "key"]
    table: Float[Tensor, "heads vectors d_head"]
    rows: Int[Tensor, "distances"]
    first: int
    scale: float
    added: Float[Tensor, "heads d_head"] | None = None

    @property
    def nbytes(self) -> int:
        added = 0 if self.added is None else self.added.nbytes
        return self.table.nbytes + self.rows.nbytes + added

    def tile(
        self,
        q: Float[Tensor, "heads queries d_head"],
        k: Float[Tensor, "heads keys d_head"],
        heads: slice,
        queries: slice,
        keys: slice,
    ) -> Float[Tensor, "heads queries keys"]:
        """The term for a tile, computed from these queries and keys alone, in float32 at least.

        O(heads × BLOCK × (queries + keys)) memory beside the tile.
        """
        device = self.table.device
        away = torch.arange(keys.start, keys.stop, device=device)
        away = away - torch.arange(queries.start, queries.stop, device=device)[:, None] - self.first
        rows, x = (self.rows[away], q) if self.of == "query" else (self.rows[away].T, k)
        x = self._whole(x, heads)
        found = [
            _chosen(x[:, start : start + BLOCK], self.table[heads], rows[start : start + BLOCK])
            for start in range(0, x.shape[1], BLOCK)
        ]
        made = torch.cat(found, dim=1) * self.scale if found else x.new_zeros(len(x), *rows.shape)
        return made if self.of == "query" else made.transpose(1, 2)

    def largest(
        self, q: Float[Tensor, "heads queries d_head"], k: Float[Tensor, "heads keys d_head"]
    ) -> Float[Tensor, "heads"]:
        """An upper bound of the absolute value for each head, for any cell."""
        x = self._whole(q if self.of == "query" else k, slice(0, len(self.table)))
        longest, of_table = (one.norm(dim=-1).amax(dim=-1) for one in (x, self.table.to(x)))
        return self.scale * longest * of_table

    def _whole(self, x: Tensor, heads: slice) -> Tensor:
        x = x.to(torch.promote_types(x.dtype, torch.float32))
        return x if self.added is None else x + self.added[heads][:, None]


@dataclass(frozen=True, eq=False)
class RelativeKeyBias:
    """The sum of its terms."""

    terms: tuple[DistanceTerm, ...]

    @property
    def nbytes(self) -> int:
        return sum(term.nbytes for term in self.terms)

    def tile(self, q: Tensor, k: Tensor, heads: slice, queries: slice, keys: slice) -> Tensor:
        """Like :meth:`DistanceTerm.tile`."""
        first, *others = (term.tile(q, k, heads, queries, keys) for term in self.terms)
        return sum(others, first)

    def squares(self, q: Tensor, k: Tensor, heads: slice, queries: slice, keys: slice) -> Tensor:
        """Sum of squares of the terms, each of which is rounded twice on its way into the sum, and of the sum; like
        :meth:`tile`.
        """
        parts = [term.tile(q, k, heads, queries, keys) for term in self.terms]
        return torch.stack([*(2 * part**2 for part in parts), sum(parts[1:], parts[0]) ** 2]).sum(dim=0)

    def largest(self, q: Tensor, k: Tensor) -> Float[Tensor, "heads"]:
        """Like :meth:`DistanceTerm.largest`, for the sum of the terms' absolute values."""
        first, *others = (term.largest(q, k) for term in self.terms)
        return sum(others, first)


def _chosen(
    x: Float[Tensor, "heads n d_head"], table: Float[Tensor, "heads vectors d_head"], rows: Int[Tensor, "n m"]
) -> Float[Tensor, "heads n m"]:
    """``x[h, i] · table[h, rows[i, j]]``, reading only the part of the table from the first to the last of the rows."""
    if rows.numel() == 0:
        return x.new_zeros(len(x), *rows.shape)
    least, most = int(rows.min()), int(rows.max())
    made = x @ table[:, least : most + 1].to(x).transpose(1, 2)
    return made.gather(-1, (rows - least).expand(len(x), -1, -1))
