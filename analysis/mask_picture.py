"""A pattern as a picture: which cells it keeps, and after how many layers information from a key reaches a query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Bool, UInt8
from torch import Tensor

from analysis.pooling import even_bins, pool
from attention import masks
from attention.patterns import PATTERNS, Pattern, reach

LARGEST = 256  # tokens drawn: the first ones of a longer text
SMALL = 44  # px per side of a small picture
WHOLE, FUTURE = 200, 255  # in a small picture: all of a pixel's cells are kept; all are in the future
MOST_LAYERS = 255  # the largest value of a byte

Cell = tuple[int, int]


@dataclass(frozen=True, eq=False)
class MaskPicture:
    """``layers`` is the number of layers after which information from a key reaches a query: 1 for kept cells, 0 never.

    ``n_kept`` are the kept cells drawn.
    """

    layers: UInt8[np.ndarray, "queries keys"]
    n_kept: int


def kept(
    pattern: Pattern, values: Mapping[str, int], n_tokens: int, *, causal: bool = True
) -> Bool[Tensor, "queries keys"]:
    """True where a model with this pattern lets the query attend; ``causal`` False: on both sides. O(tokens²)."""
    rule = pattern.rule(values)
    whole = slice(0, n_tokens)
    return masks.tile(masks.And(masks.Causal(), rule) if causal and not pattern.ahead else rule, whole, whole)


def mask_picture(
    pattern: Pattern,
    values: Mapping[str, int],
    n_tokens: int,
    *,
    n_layers: int,
    hidden: Collection[Cell] = (),
    causal: bool = True,
) -> MaskPicture:
    """The pattern without the ``hidden`` cells, for the first ``LARGEST`` tokens, through ``n_layers`` layers."""
    n_tokens = min(n_tokens, LARGEST)
    keep = kept(pattern, values, n_tokens, causal=causal).clone()
    for query, key in hidden:
        if query < n_tokens and key < n_tokens:
            keep[query, key] = False
    layers = reach(keep, most=min(n_layers, MOST_LAYERS)).masked_fill(_only_itself(keep), 0)
    return MaskPicture(layers.to(torch.uint8).numpy(), int(keep.sum()))


def _only_itself(keep: Bool[Tensor, "queries keys"]) -> Bool[Tensor, "queries keys"]:
    """Masked diagonal cells: the residual stream still carries the token, but it does not attend to itself."""
    return torch.eye(len(keep), dtype=torch.bool) & ~keep


@lru_cache(maxsize=64)
def thumbnails(
    values: tuple[tuple[str, int], ...], n_tokens: int, *, causal: bool = True
) -> UInt8[np.ndarray, "patterns rows columns"]:
    """Every pattern of the table, small: the square root of the share of kept cells in a pixel, times ``WHOLE``.

    The share is of the cells that are not in the future, and the root makes single cells visible. FUTURE where there
    are none. Cached for the same parameters, so it is read-only.
    """
    n_tokens = min(n_tokens, LARGEST)
    bins = even_bins(n_tokens, SMALL)
    every = torch.ones(n_tokens, n_tokens, dtype=torch.bool)
    allowed = every.tril() if causal else every
    pictures: list[np.ndarray] = []
    for pattern in PATTERNS:
        keep = kept(pattern, dict(values), n_tokens, causal=causal)
        seen, possible = keep.float(), (keep | allowed).float()
        for dim in (0, 1):
            seen, possible = pool(seen, dim, bins, "sum"), pool(possible, dim, bins, "sum")
        share = (WHOLE * (seen / possible.clamp(min=1)).sqrt()).round()
        pictures.append(torch.where(possible > 0, share, FUTURE).to(torch.uint8).numpy())
    together = np.stack(pictures)
    together.flags.writeable = False
    return together
