"""Errors and numbers in the user's words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hosting.closed import without_paths
from ui.i18n import _
from viz.share_text import share_digits

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from jobs.address_reading import Unreadable
    from model_runner.errors import Told

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def sentence(error: Told | Unreadable) -> str:
    """What happened, then what to do about it."""
    values = {name: _part(name, value) for name, value in error.values.items()}
    return without_paths(joined(_(error.message), _(error.hint)).format(**values))


def joined(*sentences: str) -> str:
    """One sentence after the other; a full-width mark at the end of one brings its own space."""
    whole = ""
    for part in filter(None, sentences):
        whole += part if not whole or whole.endswith(("。", "！", "？", "：")) else f" {part}"
    return whole


def _part(name: str, value: object) -> object:
    """A part of a sentence translated; names, counts and sizes stay as they are."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    template = getattr(value, "text", None)
    if isinstance(template, str):
        return _(template).format(**{inner: _part(inner, one) for inner, one in getattr(value, "values", {}).items()})
    return _(value) if name in ("what", "reason", "stage", "kind") and isinstance(value, str) else value


def plain(text: str) -> str:
    """Text as it is, for places that read Markdown: every character that could mean something else escaped."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$:&" else c for c in text)


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


def number(value: float, unit: str) -> str:
    """A metric with its unit: a share as percent, bits, tokens; a dash where it is not defined."""
    if value != value:  # NaN
        return "–"
    digits = (
        share_digits(value) if unit == "share" else f"{round(value, 1) + 0.0:.1f}"
    )  # + 0.0: of one token it is -0.0
    return with_unit(unit).format(number=digits)


def with_unit(unit: str) -> str:
    """A number of a metric and its unit, to be filled in."""
    return _("{number} %") if unit == "share" else _("{number} bits") if unit == "bits" else _("{number} tokens")
