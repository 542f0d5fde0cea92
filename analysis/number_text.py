"""Formatting of numbers in tables and sentences, the same in every language; also for NumPy numbers."""

from __future__ import annotations

import math
from typing import SupportsFloat

MINUS = "\u2212"
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def plain_number(value: SupportsFloat) -> str:
    """An integer in full, another number with four digits, without an exponent if possible; empty for NaN."""
    value = float(value)
    if math.isnan(value):
        return ""
    whole = abs(value) >= 1000 or value == round(value)
    return f"{value:,.0f}".replace("-", MINUS) if whole else significant(value, 4)


def significant(value: SupportsFloat, digits: int) -> str:
    """This many digits without trailing zeros: 0.037, −12.3, 2e−5; nan and inf as such."""
    mantissa, _e, power = f"{float(value):.{digits}g}".partition("e")
    return (f"{mantissa}e{int(power)}" if power else mantissa).replace("-", MINUS)


def three_digits(value: SupportsFloat) -> str:
    """A number of any size, as 0.123, 12.3, 1,230 or 1.23 × 10⁹; a dash for NaN."""
    value = float(value)
    if value != value:  # NaN
        return "–"
    rounded = float(f"{value:.3g}")
    if abs(rounded) < 1e3 or rounded in (math.inf, -math.inf):
        return significant(value, 3)
    if abs(rounded) < 1e6:
        return f"{rounded:,.0f}".replace("-", MINUS)
    digits, power = f"{value:.2e}".replace("-", MINUS).split("e+")
    return f"{digits} × 10{str(int(power)).translate(RAISED)}"


def figure_number(value: SupportsFloat) -> str:
    """A number as in figures (formatPlain of viz/components/shared/words.js): 0.037, 12.3, 2.0e−5."""
    value = float(value)
    size = abs(value)
    if not size < math.inf:  # also NaN
        return "–"
    if size == 0:
        return "0"
    if size >= 1e5 or size < 1e-3:
        mantissa, power = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(power)}".replace("-", MINUS)
    places = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 3
    return f"{value:.{places}f}".replace("-", MINUS)


def error_size(value: SupportsFloat) -> str:
    """A tiny difference with one significant digit: 2e−7; unchanged if it is NaN or infinite."""
    value = float(value)
    if not math.isfinite(value):
        return f"{value}"
    mantissa, _sign, exponent = f"{value:.0e}".partition("e")
    return "0" if value == 0 else f"{mantissa}e{int(exponent)}".replace("-", MINUS)
