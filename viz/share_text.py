"""Formatting of a share as a percentage: one rule for all of Python; ``shareDigits`` of shared/words.js is the same.

The test cases of both are in tests/viz/shares.json.
"""

from __future__ import annotations

import sys

MINUS = "\u2212"
OTHER_END = {"< 0.01": f"> {MINUS}0.01", "> 99.9": f"< {MINUS}99.9"}
# From here on a share counts as all: the rest is less than the smallest share that is written. The precision of a
# weight, exp(score - lse) in float32, is not much better: some 1e-5 for scores of 128, by which two captures of a text
# differ.
WHOLE = 1 - 1e-4
LEAST = sys.float_info.min  # drawn for a possible share that is too small for a float64


def share_digits(share: float) -> str:
    """Percent without the sign: integers from 9.95 on, else one decimal, and one significant digit below 0.05.

    A share below ``WHOLE`` never reads as 100 but as 99.7 or > 99.9, and a positive one never as 0 but as < 0.01. A
    negative share is formatted by its magnitude with a minus: −1.2, > −0.01.
    """
    size = _size(100 * abs(share))
    return OTHER_END.get(size) or MINUS + size if share < 0 else size


def exact_digits(share: float) -> str:
    """Three digits, as fit in an exported figure, with the same limits."""
    return f"{100 * share:.3g}" if 0.0001 <= share < 0.995 else share_digits(share)


def _size(size: float) -> str:
    if 0 < size < 0.01:
        return "< 0.01"
    if 99.5 <= size < 100 * WHOLE:
        return f"{size:.1f}" if size < 99.95 else "> 99.9"
    if size == 0 or size >= 9.95:
        return f"{size:.0f}"
    return f"{size:.1f}" if size >= 0.05 else f"{size:.1g}"
