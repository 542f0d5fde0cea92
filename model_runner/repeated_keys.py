"""Keys that one softmax counts several times: BigBird draws blocks that are visible anyway, Reformer hashes in rounds.

Counting a key n times multiplies its weight by n, as if ln n were added to its score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention import masks
from attention.masks import BlockSparse, SortedChunks


@dataclass(frozen=True)
class RepeatedKeys:
    """``rule`` is the mask of the same layer, which determines how often each cell is counted.

    A Reformer token that attends only to itself does so with a score of about ``alone``, −100,000. That changes no
    weight, but float32 represents such a score only to a hundredth, so that the sum over its rounds is not exactly 1.
    """

    rule: BlockSparse | SortedChunks
    alone: float = 0.0  # added where a token attends to itself

    @property
    def nbytes(self) -> int:
        """The size of the rule, which the mask shares."""
        return sum(one.nbytes for one in vars(self.rule).values() if isinstance(one, Tensor))

    def tile(
        self, heads: slice, queries: slice, keys: slice, device: torch.device
    ) -> Float[Tensor, "heads queries keys"]:
        """ln of the counts, 0 where a cell is masked, in float32; O(tile) memory. Slices have explicit bounds."""
        found = masks.counts(self.rule, heads, queries, keys, device=device).float()
        added = found.clamp(min=1).log()
        if self.alone == 0:
            return added
        own = torch.arange(queries.start, queries.stop, device=device)[:, None]
        own = own == torch.arange(keys.start, keys.stop, device=device)
        return added + self.alone * (own & (found > 0))

    @property
    def most(self) -> float:
        """An upper bound of what is added to any cell, apart from ``alone``."""
        return math.log(self.rule.most)
