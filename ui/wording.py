"""Errors and numbers in the user's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui.i18n import _

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from model_runner.errors import RunnerError


def sentence(error: RunnerError) -> str:
    """What happened, then what to do about it."""
    values = {name: _part(name, value) for name, value in error.values.items()}
    return f"{_(error.message)} {_(error.hint)}".strip().format(**values)


def _part(name: str, value: object) -> object:
    """A part of a sentence translated; names, counts and sizes stay as they are."""
    template = getattr(value, "text", None)
    if isinstance(template, str):
        return _(template).format(**getattr(value, "values", {}))
    return _(value) if name in ("what", "reason", "stage", "kind") and isinstance(value, str) else value


def plain(text: str) -> str:
    """Text as it is, for places that read Markdown: every character that could mean something else escaped."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|~$:" else c for c in text)


def number(value: float, unit: str) -> str:
    """A metric with its unit: a share as percent, bits, tokens; a dash where it is not defined."""
    if value != value:  # NaN
        return "–"
    if unit == "share":
        return f"{value:.0%}".replace("%", " %")
    return f"{value:.1f} {_('bits') if unit == 'bits' else _('tokens')}"


def error_size(value: float) -> str:
    """A tiny difference in one significant digit: 2e-7."""
    mantissa, _sign, exponent = f"{value:.0e}".partition("e")
    return "0" if value == 0 else f"{mantissa}e{int(exponent)}"
