"""The three maps of q·k against loops over the vectors that attention saw, cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.head_map import Window
from analysis.similarity_maps import similarity_maps
from tests.analysis.test_cell import captured

LAYER, HEAD = 1, 2
MAPS = ("cosines", "lengths", "products")


def by_loops(family: str) -> dict[str, list[list[float]]]:
    """Each map a cell at a time; NaN where the model's own score is −∞."""
    capture = captured(family)
    record = capture.record(LAYER)
    q, k = record.q[HEAD].double().tolist(), record.k[HEAD // record.group].double().tolist()
    seen = capture.scores(LAYER, HEAD) > -math.inf
    found: dict[str, list[list[float]]] = {name: [] for name in MAPS}
    for i, one in enumerate(q):
        rows: dict[str, list[float]] = {name: [] for name in MAPS}
        for j, other in enumerate(k):
            product = sum(a * b for a, b in zip(one, other, strict=True))
            lengths = math.sqrt(sum(a * a for a in one)) * math.sqrt(sum(b * b for b in other))
            values = {"cosines": product / lengths, "lengths": lengths, "products": product}
            for name in MAPS:
                rows[name].append(values[name] if seen[i, j] else math.nan)
        for name in MAPS:
            found[name].append(rows[name])
    return found


@pytest.mark.parametrize("family", ["llama", "mistral", "gpt2"])
def test_every_cell_is_the_sum_over_its_own_vectors(family):
    found, expected = similarity_maps(captured(family), LAYER, HEAD), by_loops(family)
    for name in MAPS:
        np.testing.assert_allclose(getattr(found, name).values, expected[name], rtol=1e-5, atol=1e-6)
    products = found.lengths.values * found.cosines.values
    np.testing.assert_allclose(products, found.products.values, rtol=1e-5, atol=1e-6)


def test_a_window_is_a_part_of_the_whole_and_a_pixel_the_mean_of_its_visible_cells():
    capture, expected = captured("llama"), by_loops("llama")
    part = similarity_maps(capture, LAYER, HEAD, window=Window(3, 9, 1, 7))
    pooled = similarity_maps(capture, LAYER, HEAD, pixels=8)
    size = pooled.cosines.pool[0]
    assert size > 1
    assert pooled.products.how == "mean"
    for name in MAPS:
        whole = np.array(expected[name])
        np.testing.assert_allclose(getattr(part, name).values, whole[3:9, 1:7], rtol=1e-5, atol=1e-6)
        rows, columns = getattr(pooled, name).values.shape
        for i in range(rows):
            for j in range(columns):
                cells = whole[i * size : (i + 1) * size, j * size : (j + 1) * size]
                kept = [one for one in cells.ravel().tolist() if not math.isnan(one)]
                value = float(getattr(pooled, name).values[i, j])
                assert (math.isnan(value) and not kept) or value == pytest.approx(sum(kept) / len(kept), rel=1e-5)
