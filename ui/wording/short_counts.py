"""Large counts in a few digits, grouped as in the reader's language."""

from __future__ import annotations

from analysis.number_text import three_digits
from ui.wording.i18n import language

THOUSANDS = ((10**15, "P"), (10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))
# Chinese counts in ten thousands: 万, 亿 and 万亿.
TEN_THOUSANDS = ((10**12, "万亿"), (10**8, "亿"), (10**4, "万"))


def counted(count: int) -> str:
    """Format a count of parameters or operations: 8.03 B, 1.2 T, and in Chinese 80.3 亿, 1680 万."""
    chinese = language() == "zh"
    for size, letter in TEN_THOUSANDS if chinese else THOUSANDS:
        if count >= 0.9995 * size:
            return f"{three_digits(count / size).replace(',', '' if chinese else ',')} {letter}"
    return str(count)
