"""The colour scale of a head's map: its range, and the kind of number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.head_map import HeadMap, Reading

LOG_DECADES = 4  # decades of the logarithmic scale
# smallest end of a scale of changes: ±1 % of the weights, or as many nats; smaller changes stay pale
LEAST_CHANGE = 0.01


@dataclass(frozen=True)
class Scale:
    """Arguments of the map's component and its exports."""

    scale: Literal["sequential", "diverging"]
    low: float
    high: float
    log: bool
    number: Literal["percent", "plain"]


def change_extent(changes: NDArray[np.floating]) -> float:
    """The end of a colour scale of changes: the largest magnitude, but at least ``LEAST_CHANGE``."""
    return float(np.nanmax(np.abs(changes), initial=LEAST_CHANGE))


def change_scale(changes: NDArray[np.floating]) -> Scale:
    """A scale for changes of weights, around 0."""
    extent = change_extent(changes)
    return Scale("diverging", -extent, extent, False, "percent")


def scale_of(
    view: HeadMap, reading: Reading, *, log: bool = False, compared: bool = False, shares: bool = True
) -> Scale:
    """Weights have a scale from 0 to 1, so that pictures can be compared; signed values are around 0; others up to the
    maximum.

    ``compared``: the map is a difference of two heads, with a scale of at least ``LEAST_CHANGE``. ``shares``: its
    weights are non-negative and sum to 1, as with softmax.
    """
    unit = "percent" if reading.what == "weights" and shares else "plain"
    high = max(view.largest, 1e-9)
    if reading.what == "difference" or compared:
        high = max(high, LEAST_CHANGE)
    if reading.what in ("scores", "difference") or compared or bool((view.values < 0).any()):
        return Scale("diverging", -high, high, False, unit)
    high = 1.0 if unit == "percent" else high
    return Scale("sequential", high * 10.0**-LOG_DECADES if log else 0.0, high, log, unit)
