"""The row that shades the text equals sums of the weights in loops, chip by chip."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.chip_rows import chip_rows
from analysis.units import Unit
from model_runner.mask_rule import FULL
from tests.analysis.made import causal_noise, made_capture

N = 9
CHIPS = [slice(0, 1), slice(1, 2), slice(2, 5), slice(5, 6), slice(6, 8), slice(8, 9)]


def units() -> list[Unit]:
    return [Unit(f"c{part.start}", part.start, part.stop, ()) for part in CHIPS]


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "bidirectional"])
@pytest.mark.parametrize("hide_first", [False, True])
def test_a_chip_gets_the_sum_over_its_tokens_and_nothing_where_all_are_masked(causal: bool, hide_first: bool) -> None:
    weights = causal_noise(N, layers=2, heads=2) if causal else causal_noise(N, layers=2, heads=2).flip(-1, -2)
    capture = made_capture(weights) if causal else made_capture(weights, mask=FULL)
    queries = [7, 3, 8]
    found = chip_rows(capture, 1, 1, queries, units(), hide_first=hide_first)
    kept = capture.weights(1, 1).double().numpy()  # the head as made: one of the capture's own rows
    for place, query in enumerate(queries):
        left = [0.0 if hide_first and key == 0 else float(kept[query, key]) for key in range(N)]
        for chip, part in enumerate(CHIPS):
            keys = [key for key in range(part.start, part.stop) if not causal or key <= query]
            keys = [key for key in keys if not (hide_first and key == 0)]
            expected = math.fsum(left[key] for key in keys) / math.fsum(left) if keys else math.nan
            np.testing.assert_allclose(found[place, chip], expected, atol=1e-6, equal_nan=True)  # float32
