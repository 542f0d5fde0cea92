"""All tokens' residual streams, the attention links between them, and which of them a prediction needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from model_runner import Capture


@dataclass(frozen=True)
class Link:
    """The stream of ``key`` entering ``layer`` is read by that of ``query``, with this ``share`` of its row."""

    layer: int
    query: int
    key: int
    share: float


def link_shares(capture: Capture, head: int | None = None) -> Float[np.ndarray, "layers tokens tokens"]:
    """The share of a row for each key, NaN in layers without weights. O(layers × tokens²) memory.

    For one head per layer its weights; for all heads the maximum of w · ‖v‖ over heads, divided by the row's sum
    (Kobayashi et al. 2020, arXiv:2004.10102, for the norm of what is moved).
    """
    n = len(capture.tokens)
    found = np.full((capture.n_layers, n, n), np.nan)
    for layer in range(capture.n_layers):
        if not capture.has_weights(layer):
            continue
        weights = capture.weights(layer, shares=True).double()
        if head is not None:
            found[layer] = weights[min(head, len(weights) - 1)].cpu().numpy()
            continue
        lengths = capture.v(layer).double().norm(dim=-1).repeat_interleave(capture.record(layer).group, dim=0)
        moved = (weights * lengths[:, None]).amax(dim=0)
        found[layer] = (moved / moved.sum(dim=-1, keepdim=True).clamp(min=1e-30)).cpu().numpy()
    return found


def strongest_links(shares: Float[np.ndarray, "layers tokens tokens"]) -> list[Link]:
    """For every token in every layer its strongest key; empty where there are no weights."""
    return [
        Link(layer, query, int(row.argmax()), float(row.max()))
        for layer, rows in enumerate(shares)
        for query, row in enumerate(rows)
        if not np.isnan(row).any()
    ]


def needed_streams(
    shares: Float[np.ndarray, "layers tokens tokens"], least: float
) -> tuple[Bool[np.ndarray, "rows tokens"], list[Link]]:
    """Which streams reach the last token's last row through links of at least this share; and these links.

    Row l is the input of layer l, the last row the last layer's output. A stream always reaches its own next row.
    """
    layers, n, _ = shares.shape
    needed = np.zeros((layers + 1, n), dtype=bool)
    needed[layers, n - 1] = True
    links: list[Link] = []
    for layer in reversed(range(layers)):
        needed[layer] |= needed[layer + 1]
        for query in np.flatnonzero(needed[layer + 1]).tolist():
            for key in np.flatnonzero(shares[layer, query] >= least).tolist():
                links.append(Link(layer, query, key, float(shares[layer, query, key])))
                needed[layer, key] = True
    return needed, links
