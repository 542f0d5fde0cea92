"""The colour scale of a head's map: from which value to which, and what kind of number it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analysis.head_map import HeadMap, Reading

LOG_DECADES = 4  # of the logarithmic scale


@dataclass(frozen=True)
class Scale:
    """As the map's component and its exports take it."""

    scale: Literal["sequential", "diverging"]
    low: float
    high: float
    log: bool
    number: Literal["percent", "plain"]


def scale_of(view: HeadMap, reading: Reading, *, log: bool = False, compared: bool = False) -> Scale:
    """Weights run from 0 to 1, so that pictures compare; signed values around 0; the rest to the largest in view.

    ``compared``: the map is the difference of two heads.
    """
    unit = "percent" if reading.what == "weights" else "plain"
    high = max(view.largest, 1e-9)
    no_share = bool((view.values < 0).any()) or (reading.what == "weights" and high > 1.001)
    if reading.what == "scores" or compared or no_share:  # the last of what stands in the place of a softmax
        unit = unit if compared else "plain"
        return Scale("diverging", -high, high, False, unit)
    high = 1.0 if reading.what == "weights" else high
    return Scale("sequential", high * 10.0**-LOG_DECADES if log else 0.0, high, log, unit)
