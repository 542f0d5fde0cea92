"""Errors and numbers in the user's words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from analysis.sentences import joined
from hosting.redaction import redact_paths
from ui.wording.i18n import _
from viz.share_text import MINUS, share_digits

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from model_runner.errors import UserFacingError
    from ui.state.url_parsing import UrlUnreadable


def sentence(error: UserFacingError | UrlUnreadable) -> str:
    """What happened, then what the user can do about it."""
    values = {name: _part(name, value) for name, value in error.values.items()}
    return redact_paths(joined(_(error.message), _(error.hint)).format(**values))


def _part(name: str, value: object) -> object:
    """Translate a part of a sentence; names, counts and sizes stay as they are."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    template = getattr(value, "text", None)
    if isinstance(template, str):
        return _(template).format(**{inner: _part(inner, one) for inner, one in getattr(value, "values", {}).items()})
    return _(value) if name in ("what", "reason", "stage", "kind") and isinstance(value, str) else value


def listed(parts: Sequence[str]) -> str:
    """Join the parts with the language's commas; empty for none."""
    return (
        reduce(lambda first, second: _("{first}, {second}").format(first=first, second=second), parts) if parts else ""
    )


def number(value: float, unit: str) -> str:
    """Format a metric with its unit: a share as percent, bits, tokens; a dash if it is undefined."""
    if value != value:  # NaN
        return "–"
    rounded = f"{round(value, 1) + 0.0:.1f}"  # + 0.0 turns -0.0 into 0.0
    digits = share_digits(value) if unit == "share" else rounded.replace("-", MINUS)
    return with_unit(unit).format(number=digits)


def with_unit(unit: str) -> str:
    """Return a template for a metric's number with its unit."""
    return _("{number} %") if unit == "share" else _("{number} bits") if unit == "bits" else _("{number} tokens")
