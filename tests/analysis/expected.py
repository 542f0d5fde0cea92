"""What a map must show, cell by cell: the slow reference of the tests of head maps."""

from __future__ import annotations

import math

import numpy as np

CLOSE = 1e-6  # maps are float32: half a unit (6e-8) of values of order 1, those made of sums a few
NAN = math.nan


def visible(n: int) -> np.ndarray:
    """The cells of a causal mask."""
    return np.tri(n, dtype=bool)


def assert_equal(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, atol=CLOSE, rtol=CLOSE, equal_nan=True)


def without_first(weights: np.ndarray) -> np.ndarray:
    """Each row over the rest of its visible cells; the first column and a row that has no rest are undefined."""
    result = np.full(weights.shape, NAN)
    for query in range(1, len(weights)):
        rest = math.fsum(weights[query, 1:])
        for key in range(1, query + 1):
            result[query, key] = weights[query, key] / rest
    return result
