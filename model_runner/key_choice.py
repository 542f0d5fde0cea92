"""How an indexer selects the keys of each query in a layer (DeepSeek-V3.2's lightning indexer).

Its own small queries and keys are stored, with which it scores all keys and selects the ``top_k`` highest: O(tokens)
numbers, from which any tile of the scores is recomputed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad


@dataclass(frozen=True, eq=False)
class KeyChoice:
    """An index score is Σ over the indexer's heads of weight · relu(q · k) (DeepSeek-V3.2, arXiv:2512.02556, eq. 1)."""

    q: Float[Tensor, "queries index_heads d_index"]
    k: Float[Tensor, "keys d_index"]
    weights: Float[Tensor, "queries index_heads"]  # including its scale
    top_k: int
    indexer: str  # qualified name of its module; the same for layers that share a selection

    @property
    def nbytes(self) -> int:
        return self.q.nbytes + self.k.nbytes + self.weights.nbytes

    def moved(self, *, queries: int = 0, keys: tuple[int, int] = (0, 0)) -> KeyChoice:
        """The same with this many queries before its own, and keys before and after."""
        above = (0, 0, queries, 0)
        return replace(
            self,
            q=pad(self.q, (0, 0, *above)),
            k=pad(self.k, (0, 0, *keys)),
            weights=pad(self.weights, above),
        )

    def scores(self, queries: slice, keys: slice) -> Float[Tensor, "queries keys"]:
        """The indexer's score of each cell of a tile, float32, masked keys included. O(tile) memory."""
        q, k = self.q[queries].float(), self.k[keys].float().T
        weights = self.weights[queries].float()
        found = torch.zeros(q.shape[0], k.shape[1], device=q.device)
        for head in range(q.shape[1]):
            found += weights[:, head, None] * torch.relu(q[:, head] @ k)
        return found
