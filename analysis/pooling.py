"""Reduce an axis by contiguous bins: cells into pixels, tokens into words."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor

How = Literal["max", "mean", "sum"]


def even_bins(count: int, limit: int) -> list[slice]:
    """At most ``limit`` contiguous bins that cover ``count`` items, with sizes that differ by at most one."""
    n_bins = min(count, limit)
    edges = [i * count // n_bins for i in range(n_bins + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]


def fixed_bins(count: int, limit: int) -> list[slice]:
    """At most ``limit`` contiguous bins of one size that cover ``count`` items; only the last may be smaller."""
    size = -(-count // limit)
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def pool(values: Tensor, dim: int, bins: list[slice], how: How) -> Tensor:
    """The values with ``dim`` reduced to one entry per bin; bins may start anywhere but must be contiguous."""
    dim, sizes = dim % values.dim(), [part.stop - part.start for part in bins]
    values = values.narrow(dim, bins[0].start, sum(sizes))
    reduce = {"max": torch.amax, "mean": torch.mean, "sum": torch.sum}[how]
    if len(set(sizes)) == 1:
        return values if sizes[0] == 1 else reduce(values.unflatten(dim, (len(bins), sizes[0])), dim=dim + 1)
    if how == "max":
        return torch.stack([reduce(part, dim=dim) for part in values.split(sizes, dim)], dim=dim)
    bin_of = torch.repeat_interleave(torch.tensor(sizes, device=values.device))
    shape = [len(bins) if axis == dim else size for axis, size in enumerate(values.shape)]
    totals = torch.zeros(shape, dtype=values.dtype, device=values.device).index_add(dim, bin_of, values)
    if how == "sum":
        return totals
    counts = torch.tensor(sizes, dtype=values.dtype, device=values.device)
    return totals / counts.reshape([-1 if axis == dim else 1 for axis in range(values.dim())])
