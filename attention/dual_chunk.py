"""Dual chunk attention's index map: every earlier key is visible, at a relative position seen in training.

This is not a mask: it changes a key's apparent distance. A text of any length is split into chunks; within a chunk and
just across its border distances are true. For keys farther back the query's position is capped, and the distance is
measured to the key's position in its own chunk (An et al. 2024, section 3, arXiv:2402.17463).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

INTRA, SUCCESSIVE, INTER, FUTURE = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class IndexMap:
    """``distance`` is a key's apparent distance from a query; ``region`` says by which rule. Both for keys ≤ query."""

    distance: Int[Tensor, "queries keys"]
    region: Int[Tensor, "queries keys"]


def index_map(n_tokens: int, *, chunk: int, local: int) -> IndexMap:
    """Distances and regions for ``n_tokens`` in chunks of ``chunk``; true distances extend ``local`` beyond a chunk.

    Keys are numbered 0 to ``chunk`` − 1 in every chunk. A query has three positions: its own within its chunk (INTRA);
    for the previous chunk, ``chunk`` more, up to the maximum (SUCCESSIVE); for all earlier ones the maximum (INTER),
    which is ``chunk`` + ``local`` − 1, the last position in training. Tokens up to ``local`` apart always have their
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
