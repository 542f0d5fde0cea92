"""Keys that one softmax counts several times: BigBird draws blocks that are seen anyway, Reformer hashes in rounds.

A key that is counted n times has n times its weight, as if ln n were added to its score.
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
    """``rule`` is the mask of the same layer; it says how often each cell is counted.

    A token of Reformer's that sees nothing but itself does so with a score of about ``alone``, −100,000. That moves no
    weight, but float32 knows such a score to a hundredth, so that what its rounds add up to is not quite 1.
    """

    rule: BlockSparse | SortedChunks
    alone: float = 0.0  # added where a token sees itself

    @property
    def nbytes(self) -> int:
        """Of the rule, which the mask holds too."""
        return sum(one.nbytes for one in vars(self.rule).values() if isinstance(one, Tensor))

    def tile(
        self, heads: slice, queries: slice, keys: slice, device: torch.device
    ) -> Float[Tensor, "heads queries keys"]:
        """ln of the counts, 0 where a cell is masked, in float32; O(tile) memory. Slices have bounds."""
        found = masks.counts(self.rule, heads, queries, keys, device=device).float()
        added = found.clamp(min=1).log()
        if self.alone == 0:
            return added
        own = torch.arange(queries.start, queries.stop, device=device)[:, None]
        own = own == torch.arange(keys.start, keys.stop, device=device)
        return added + self.alone * (own & (found > 0))

    @property
    def most(self) -> float:
        """No cell has more added to it, ``alone`` left out of account."""
        return math.log(self.rule.most)
