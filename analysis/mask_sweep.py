"""Patterns of comparable cost for a sweep: for every window size, others that keep about as many cells."""

from __future__ import annotations

import math

from attention.patterns import BY_NAME

SWEPT = ("window", "sinks", "dilated", "strided")
MOST_SIZES = 12
SLACK = 0.15  # relative deviation in cells at which another pattern is still comparable

Values = tuple[tuple[str, int], ...]


def sizes(n_tokens: int) -> tuple[int, ...]:
    """Window sizes from 1 to the whole text, about evenly spaced in their logarithm, at most ``MOST_SIZES``."""
    steps = min(MOST_SIZES, max(2, n_tokens))
    spaced = {round(n_tokens ** (step / (steps - 1))) for step in range(steps)}
    return tuple(sorted(min(n_tokens, max(1, size)) for size in spaced))


def matched(name: str, n_tokens: int, window: int, *, sinks: int = 4, gap: int = 2) -> Values | None:
    """Values with which the pattern keeps about as many cells of the text as a sliding window of this size.

    None if no values come within ``SLACK``. Sinks are at most half the window; strides are at most the square root of
    the text, beyond which a larger one keeps more again.
    """
    if name == "window":
        return (("window", window),)
    wanted = BY_NAME["window"].kept_cells(n_tokens, {"window": window})
    candidates: list[Values]
    if name == "strided":
        candidates = [(("stride", stride),) for stride in range(1, math.isqrt(n_tokens) + 1)]
    elif name == "dilated":
        candidates = [(("window", size), ("gap", gap)) for size in _around(window, n_tokens)]
    else:
        fixed = min(sinks, window // 2)
        candidates = [(("window", size), ("sinks", fixed)) for size in _around(max(1, window - fixed), n_tokens)]

    def distance(values: Values) -> float:
        return abs(BY_NAME[name].kept_cells(n_tokens, dict(values)) - wanted)

    best = min(candidates, key=distance)
    return best if distance(best) <= SLACK * wanted else None


def _around(size: int, n_tokens: int) -> range:
    """Sizes to try: a pattern that starts later keeps fewer cells, so its size may be somewhat larger."""
    return range(max(1, size - 2), min(n_tokens, size + max(4, size // 2)) + 1)
