"""All heads ranked by the weight of one cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from analysis.made_there import far_maker
from model_runner.capture import Capture


@dataclass(frozen=True, eq=False)
class CellRanking:
    """``weights`` are NaN in layers without attention, and where the head's mask hides the key."""

    query: int
    key: int
    weights: Float[np.ndarray, "layers heads"]

    @property
    def order(self) -> list[tuple[int, int]]:
        """(layer, head) by decreasing weight, ties in order; masked ones left out."""
        flat = self.weights.ravel()
        ranked = np.argsort(np.where(np.isnan(flat), np.inf, -flat), kind="stable")
        heads = self.weights.shape[1]
        return [divmod(int(at), heads) for at in ranked if not np.isnan(flat[at])]

    def weight(self, place: tuple[int, int]) -> float:
        """One head's weight."""
        return float(self.weights[place])


def cell_ranking(capture: Capture, query: int, key: int) -> CellRanking:
    """The weight of ``query`` on ``key`` in every head; O(layers × heads × keys), computed where the tensors are."""
    if (maker := far_maker(capture)) is not None:
        return CellRanking(query, key, maker.cell(capture.request, query, key).numpy())
    weights = np.full((capture.n_layers, capture.n_heads), np.nan, np.float32)
    rows, cell = slice(query, query + 1), slice(key, key + 1)
    for layer in range(capture.n_layers):
        if not capture.has_weights(layer):
            continue
        record = capture.record(layer)
        heads = slice(0, record.q.shape[0])
        found = capture.layer_weights(layer, rows, shares=True)[:, 0, key].float()
        visible = record.mask.tiles(heads, rows, cell, found.device)[..., 0, 0]
        weights[layer, heads] = found.masked_fill(~visible, float("nan")).cpu().numpy()
    return CellRanking(query, key, weights)
