"""Numbers as they are written in tables and sentences, in every language alike. NumPy's are numbers too."""

from __future__ import annotations

import math
from typing import SupportsFloat

MINUS = "\u2212"
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def plain_number(value: SupportsFloat) -> str:
    """A whole number in full, another with four digits, without a power of ten where it can be; nothing for NaN."""
    value = float(value)
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == round(value) else f"{value:.4g}"


def three_digits(value: float) -> str:
    """A number of any size, as 0.123, 12.3, 1,230 or 1.23 × 10⁹; a dash where it is not defined."""
    if value != value:  # NaN
        return "–"
    rounded = float(f"{value:.3g}")
    if abs(rounded) < 1e3 or rounded in (math.inf, -math.inf):
        return f"{value:.3g}"
    if abs(rounded) < 1e6:
        return f"{rounded:,.0f}"
    digits, power = f"{value:.2e}".split("e+")
    return f"{digits} × 10{str(int(power)).translate(RAISED)}"


def figure_number(value: float) -> str:
    """A number as the figures write it (formatPlain of viz/components/shared/words.js): 0.037, 12.3, 2.0e−5."""
    size = abs(value)
    if not size < math.inf:  # NaN too
        return "–"
    if size == 0:
        return "0"
    if size >= 1e5 or size < 1e-3:
        mantissa, power = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(power)}".replace("-", MINUS)
    places = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 3
    return f"{value:.{places}f}".replace("-", MINUS)


def error_size(value: SupportsFloat) -> str:
    """A tiny difference in one significant digit: 2e-7; as it is where it is no number, or beyond all."""
    value = float(value)
    if not math.isfinite(value):
        return f"{value}"
    mantissa, _sign, exponent = f"{value:.0e}".partition("e")
    return "0" if value == 0 else f"{mantissa}e{int(exponent)}"
