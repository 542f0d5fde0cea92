"""The queries and keys of a head measured in several ways, and q·k split into lengths and angle over every cell."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from analysis.joined import first_query, n_looked_at
from analysis.step_window import Window, window
from attention.similarity import Split, split
from model_runner.capture import Capture

MOST = 512  # tokens on either side whose cells are all looked at


@dataclass(frozen=True, eq=False)
class HeadVectors:
    """A few queries and keys of a head, as attention saw them, float64."""

    window: Window
    q: Float[Tensor, "queries d_head"]
    k: Float[Tensor, "keys d_head"]


@dataclass(frozen=True)
class Spread:
    """From the least to the largest, over every cell that may be seen."""

    q_norm: tuple[float, float]
    k_norm: tuple[float, float]
    cosine: tuple[float, float]
    cells: int


def head_vectors(capture: Capture, layer: int, head: int, query: int) -> HeadVectors:
    """The query and the tokens that it looks at most. Raises NoWeights."""
    record, chosen = capture.record(layer), window(capture, layer, head, query)
    q = record.q[head, list(chosen.queries)].detach().to("cpu", torch.float64)
    k = record.k[head // record.group, list(chosen.keys)].detach().to("cpu", torch.float64)
    return HeadVectors(chosen, q, k)


def spread(capture: Capture, layer: int, head: int) -> Spread:
    """Over the first ``MOST`` queries and keys of the text. O(MOST²) memory."""
    record = capture.record(layer)
    rows = slice(first_query(capture), min(first_query(capture) + MOST, len(capture.tokens)))
    keys = slice(0, min(MOST, n_looked_at(capture)))
    q, k = (x.detach().to("cpu", torch.float64) for x in (record.q[head, rows], record.k[head // record.group, keys]))
    found: Split = split(q, k)
    keep = record.mask.tile(rows, keys, record.q.device, head=head).cpu().expand(found.cosines.shape)
    cosines = found.cosines[keep]
    seen = [found.q_norms[keep.any(1)], found.k_norms[keep.any(0)], cosines]
    ends = [(float(one.min()), float(one.max())) for one in seen]
    return Spread(*ends, cells=int(keep.sum()))
