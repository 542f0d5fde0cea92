"""Dual chunk attention's index map: every earlier key is seen, but from a position that the model was trained on.

Not a mask: it changes how far away a key seems. A text of any length is cut into chunks; within a chunk and just across
its border distances are true; for keys farther back the query's position is capped, and the distance is what is left
between it and the key's place in its own chunk (An et al. 2024, section 3, arXiv:2402.17463).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

INTRA, SUCCESSIVE, INTER, FUTURE = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class IndexMap:
    """``distance`` is how far away a key seems to a query; ``region`` says by which rule. Both for keys ≤ query."""

    distance: Int[Tensor, "queries keys"]
    region: Int[Tensor, "queries keys"]


def index_map(n_tokens: int, *, chunk: int, local: int) -> IndexMap:
    """Distances and regions of ``n_tokens`` in chunks of ``chunk``; ``local`` is how far true distances go beyond it.

    Keys are numbered 0 to ``chunk`` − 1 in every chunk. A query has three: its own in its chunk (INTRA); for the chunk
    before, ``chunk`` more, at most the largest (SUCCESSIVE); for all before that the largest (INTER), which is
    ``chunk`` + ``local`` − 1, the last position of the training. Neighbours up to ``local`` apart are always at their
    true distance. Keys after the query are FUTURE. O(tokens²) memory.
    """
    position = torch.arange(n_tokens)
    inside, number = position % chunk, position // chunk
    largest = chunk + local - 1
    back = number[:, None] - number[None, :]
    successive = (inside + chunk).clamp(max=largest)
    seen_from = torch.where(back == 0, inside[:, None], torch.where(back == 1, successive[:, None], largest))
    future = position[None, :] > position[:, None]
    region = back.clamp(0, INTER).masked_fill(future, FUTURE)
    return IndexMap(seen_from - inside[None, :], region)
