"""The numbers typed by a class as a histogram, in order of size, including the true number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from classroom.poll import Bar

DIGITS = 6  # significant digits that are drawn
SMALLEST, LARGEST = -12, 12  # powers of ten that numbers are rounded to


@dataclass(frozen=True)
class HistogramRow:
    """A number, how many typed it in each vote, its distance from the true one, and whether it is that one."""

    label: str
    counts: tuple[int, ...]
    off: float
    true: bool


@dataclass(frozen=True)
class NumberGroups:
    """``step`` is what numbers are rounded to if too many different ones were typed, otherwise 0."""

    step: float
    rows: tuple[HistogramRow, ...]


def number_groups(bars: Sequence[Bar], true: float, most: int = 12) -> NumberGroups:
    """Return one row per different number, or per number rounded to a power of ten if there are more than ``most``.

    All correct answers are in the true number's row, however many digits were typed. The distance is that of the
    rounded number.
    """
    step, values = 0.0, [true if bar.right else float(bar.value) for bar in bars]
    for power in range(SMALLEST, LARGEST + 1):
        if len({_rounded(value, step) for value in values}) <= most:
            break
        step = float(f"1e{power}")
    counts: dict[str, tuple[int, ...]] = {}
    for bar, value in zip(bars, values, strict=True):
        label = _rounded(value, step)
        before = counts.get(label, (0,) * len(bar.counts))
        counts[label] = tuple(a + b for a, b in zip(before, bar.counts, strict=True))
    mark = _rounded(true, step)
    rows = [
        HistogramRow(label, counts[label], abs(float(label) - true), label == mark)
        for label in sorted(counts, key=float)
    ]
    return NumberGroups(step, tuple(rows))


def _rounded(value: float, step: float) -> str:
    return f"{(round(value / step) * step if step else value) + 0.0:.{DIGITS}g}"
