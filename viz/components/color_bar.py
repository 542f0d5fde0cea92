"""The ends of a map's colour bar, and whether values lie beyond them."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viz.components.picture import Parts

Clipped: TypeAlias = Annotated[tuple[bool, bool], Parts(("below", "above"))]


def color_ends(low: float, high: float, *, both_sides: bool) -> tuple[float, float]:
    """The ends of the colour scale; with ``both_sides`` symmetric about 0, up to the larger magnitude."""
    largest = max(abs(low), abs(high))
    return (-largest, largest) if both_sides else (low, high)


def clipped(values: NDArray[np.floating[Any]], low: float, high: float) -> Clipped:
    """Whether values are clipped at each end of the bar, which then shows ≤ or ≥; float32 rounding does not count."""
    defined = values[~np.isnan(values)]
    slack = 1e-6 * max(abs(low), abs(high))
    return bool((defined < low - slack).any()), bool((defined > high + slack).any())
