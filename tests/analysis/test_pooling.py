"""Bins cover an axis without gaps, and pooling over them equals loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from analysis.pooling import How, even_bins, fixed_bins, pool

COUNTS = (1, 2, 5, 7, 48, 49, 97, 300)
SIZES = [(count, limit) for count in COUNTS for limit in (1, 2, 3, 48, 256)]

REDUCED = {"max": max, "mean": lambda values: math.fsum(values) / len(values), "sum": math.fsum}


def _places(bins: list[slice]) -> list[int]:
    return [place for part in bins for place in range(part.start, part.stop)]


@pytest.mark.parametrize("count, limit", SIZES)
def test_even_bins_cover_every_place_once_with_sizes_that_differ_by_one_at_most(count: int, limit: int) -> None:
    bins = even_bins(count, limit)
    assert _places(bins) == list(range(count))
    assert len(bins) == min(count, limit)
    sizes = [part.stop - part.start for part in bins]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("count, limit", SIZES)
def test_fixed_bins_cover_every_place_once_with_one_size_but_for_the_last(count: int, limit: int) -> None:
    bins = fixed_bins(count, limit)
    assert _places(bins) == list(range(count))
    assert len(bins) <= limit
    sizes = [part.stop - part.start for part in bins]
    assert set(sizes[:-1]) <= {sizes[0]}
    assert 1 <= sizes[-1] <= sizes[0]
    assert sizes[0] == math.ceil(count / limit)  # no coarser than it must be


BINS = {
    "one place each": [slice(i, i + 1) for i in range(6)],
    "equal": [slice(0, 2), slice(2, 4), slice(4, 6)],
    "unequal": [slice(0, 1), slice(1, 4), slice(4, 6)],
    "starting later": [slice(2, 3), slice(3, 5)],
    "equal, starting later": [slice(1, 3), slice(3, 5)],
    "all in one": [slice(0, 6)],
}


@pytest.mark.parametrize("how", REDUCED)
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("bins", BINS.values(), ids=BINS)
def test_pooling_is_the_one_of_loops(how: How, dim: int, bins: list[slice]) -> None:
    values = torch.randn(6, 6, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = pool(values, dim, bins, how)
    moved = np.moveaxis(values.numpy(), dim, 0)
    expected = np.array(
        [
            [[REDUCED[how]([moved[place, i, j] for place in _places([part])]) for j in range(6)] for i in range(6)]
            for part in bins
        ]
    )
    # Sums of at most six numbers of order 1 in float64.
    np.testing.assert_allclose(np.moveaxis(found.numpy(), dim, 0), expected, atol=1e-14, rtol=0)


@pytest.mark.parametrize("bins", BINS.values(), ids=BINS)
def test_pooling_leaves_the_values_as_they_are(bins: list[slice]) -> None:
    values = torch.arange(36.0).reshape(6, 6)
    for how in ("max", "mean", "sum"):
        pool(values, 0, bins, how)
    assert torch.equal(values, torch.arange(36.0).reshape(6, 6))


@pytest.mark.parametrize("bins", BINS.values(), ids=BINS)
def test_the_largest_of_small_integers_stays_a_small_integer(bins: list[slice]) -> None:
    seen: Tensor = torch.tensor([0, 0, 1, 0, 0, 1], dtype=torch.uint8)
    found = pool(seen, 0, bins, "max")
    assert found.dtype == torch.uint8
    assert found.tolist() == [int(any(seen[place] for place in _places([part]))) for part in bins]
