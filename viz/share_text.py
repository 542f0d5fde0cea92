"""A share as a reader's percentage: one rule for all of Python; ``shareDigits`` of shared/words.js is the same.

The cases of both are in tests/viz/shares.json.
"""

from __future__ import annotations

import sys

MINUS = "\u2212"
OTHER_END = {"< 0.01": f"> {MINUS}0.01", "> 99.9": f"< {MINUS}99.9"}
# From here on a share is all: what is left is less than the smallest share that is written. Of a weight, which is
# exp(score - lse), float32 does not know much more: of scores of 128 some 1e-5, by which two captures of a text differ.
WHOLE = 1 - 1e-4
LEAST = sys.float_info.min  # what is drawn for a share that is possible and less than a number of 64 bits holds


def share_digits(share: float) -> str:
    """Hundredths without their sign: whole ones from 9.95 on, else one decimal, below 0.05 one digit.

    Less than ``WHOLE`` never reads as 100 but as 99.7 or > 99.9, more than nothing never as 0 but as < 0.01.
    Of a negative share the same of its size, with a minus before it: −1.2, > −0.01.
    """
    size = _size(100 * abs(share))
    return OTHER_END.get(size) or MINUS + size if share < 0 else size


def exact_digits(share: float) -> str:
    """Three digits, as a figure in a file has room for, with the same ends."""
    return f"{100 * share:.3g}" if 0.0001 <= share < 0.995 else share_digits(share)


def _size(size: float) -> str:
    if 0 < size < 0.01:
        return "< 0.01"
    if 99.5 <= size < 100 * WHOLE:
        return f"{size:.1f}" if size < 99.95 else "> 99.9"
    if size == 0 or size >= 9.95:
        return f"{size:.0f}"
    return f"{size:.1f}" if size >= 0.05 else f"{size:.1g}"
