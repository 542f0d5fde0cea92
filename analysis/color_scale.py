"""The colour scale of a head's map: from which value to which, and what kind of number it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.head_map import HeadMap, Reading

LOG_DECADES = 4  # of the logarithmic scale
LEAST_CHANGE = 0.01  # at the ends of a scale of changes: ±1 % of the weights, or as many nats; less stays pale


@dataclass(frozen=True)
class Scale:
    """As the map's component and its exports take it."""

    scale: Literal["sequential", "diverging"]
    low: float
    high: float
    log: bool
    number: Literal["percent", "plain"]


def change_extent(changes: NDArray[np.floating]) -> float:
    """The size of change at the ends of a colour scale: the largest, and ``LEAST_CHANGE`` at the least."""
    return float(np.nanmax(np.abs(changes), initial=LEAST_CHANGE))


def change_scale(changes: NDArray[np.floating]) -> Scale:
    """Changes of weights, around 0."""
    extent = change_extent(changes)
    return Scale("diverging", -extent, extent, False, "percent")


def scale_of(
    view: HeadMap, reading: Reading, *, log: bool = False, compared: bool = False, shares: bool = True
) -> Scale:
    """Shares run from 0 to 1, so that pictures compare; signed values around 0; the rest to the largest in view.

    ``compared``: the map is the difference of two heads, whose scale ends no nearer than ``LEAST_CHANGE``.
    ``shares``: its weights are, as those of softmax.
    """
    unit = "percent" if reading.what == "weights" and shares else "plain"
    high = max(view.largest, 1e-9)
    if reading.what == "difference" or compared:
        high = max(high, LEAST_CHANGE)
    if reading.what in ("scores", "difference") or compared or bool((view.values < 0).any()):
        return Scale("diverging", -high, high, False, unit)
    high = 1.0 if unit == "percent" else high
    return Scale("sequential", high * 10.0**-LOG_DECADES if log else 0.0, high, log, unit)
