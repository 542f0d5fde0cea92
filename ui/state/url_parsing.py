"""Parsing of field values from the URL, with the reason if one is invalid."""

from __future__ import annotations

import dataclasses
import math
import typing
from typing import Any, Literal

from ui.state.url_values import DIGITS, EMPTY, NONE, FieldSpec, State, hints, options_of, setting_of, type_of

N_ = str  # marks a text for Babel without translating it here

MOST_ITEMS = 5000  # entries of a list in a URL
NO_CHOICE = N_("“{value}” is not an option for {what}.")
NO_NUMBER = N_("“{value}” is not a number for {what}.")
NOT_WHOLE = N_("“{value}” is not a whole number for {what}.")


class UrlUnreadable(ValueError):
    """Why a URL parameter is invalid, worded like a RunnerError; ``rest`` is the valid part of it."""

    def __init__(self, message: str, *, hint: str = "", rest: object = None, **values: object) -> None:
        self.message, self.hint, self.rest, self.values = message, hint, rest, values
        super().__init__(f"{message} {hint}".strip().format(**values))


def read(kind: type[State], name: str, text: str) -> Any:
    """Parse what :func:`ui.state.url_values.write` wrote. Raises UrlUnreadable."""
    about, wanted = setting_of(kind, name), type_of(kind, name)
    if text == NONE and type(None) in typing.get_args(hints(kind)[name]):
        return None
    if typing.get_origin(wanted) is Literal or (about.options is not None and wanted is str):
        return _listed(text, options_of(kind, name), about)
    if wanted is bool:
        return _listed(text, ("0", "1"), about) == "1"
    if wanted in (int, float, str):
        return {int: whole, float: _real, str: _text}[wanted](text, about)
    if typing.get_origin(wanted) is tuple:
        inner = typing.get_args(wanted)[0]
        edits = any(map(dataclasses.is_dataclass, typing.get_args(inner)))
        return _edits(text) if edits and text != EMPTY else _several(text, inner, about)
    if hasattr(wanted, "_fields"):
        return _named(text, wanted, about)
    raise TypeError(f"{kind.__name__}.{name}: no way to write a {wanted} in an address")


def whole(text: str, about: FieldSpec, what: str = "") -> int:
    """Parse an integer of a field, or the one named ``what`` of a field with several. Raises UrlUnreadable."""
    what = what or about.label
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise UrlUnreadable(NOT_WHOLE if math.isfinite(_number(text)) else NO_NUMBER, value=short(text), what=what)
    if len(digits) > about.digits:
        raise UrlUnreadable(N_("“{value}” is too large a number for {what}."), value=short(text), what=what)
    return int(_bounded(int(text), about, what))


def short(text: str) -> str:
    """Shorten a long text to its beginning."""
    return text if len(text) <= 40 else f"{text[:40]}…"


def _listed(text: str, options: tuple[str, ...], about: FieldSpec) -> str:
    if text not in options:
        raise UrlUnreadable(NO_CHOICE, value=short(text), what=about.label)
    return text


def _text(text: str, about: FieldSpec) -> str:
    if len(text) > about.max_length:
        raise UrlUnreadable(
            N_("The {what} has more than {most} characters."), what=about.label, most=str(about.max_length)
        )
    return text


def _number(text: str) -> float:
    """Return NaN if it is not a number."""
    try:
        return float(text) if text.isascii() and len(text) <= 2 * DIGITS and "_" not in text else math.nan
    except ValueError:
        return math.nan


def _real(text: str, about: FieldSpec) -> float:
    value = _number(text)
    if not math.isfinite(value):
        raise UrlUnreadable(NO_NUMBER, value=short(text), what=about.label)
    return _bounded(value, about, about.label)


def _bounded(value: float, about: FieldSpec, what: str) -> float:
    told = {"what": what, "value": str(value)}
    if value < about.min:
        raise UrlUnreadable(N_("The {what} is {value}; it must be at least {least}."), **told, least=str(about.min))
    if value > about.max:
        raise UrlUnreadable(N_("The {what} is {value}; it may be at most {most}."), **told, most=str(about.max))
    return value


def _edits(text: str) -> tuple[object, ...]:
    from model_runner.edit_text import readable  # the engine is imported only after the frame is painted

    edits, problem = readable(text)
    if problem is not None:
        raise UrlUnreadable(problem.message, hint=problem.hint, rest=edits, **problem.values)
    return edits


def _named(text: str, wanted: Any, about: FieldSpec) -> object:
    parts = text.split("-")
    if len(parts) != len(wanted._fields) or not all(part.isascii() and part.isdigit() for part in parts):
        raise UrlUnreadable(NO_NUMBER, value=short(text), what=about.label)
    return wanted(*(whole(part, about) for part in parts))


def _several(text: str, inner: object, about: FieldSpec) -> tuple[object, ...]:
    if text == EMPTY:
        return ()
    pairs = typing.get_origin(inner) is tuple
    parts = text.split("-" if pairs else ".")
    if len(parts) > MOST_ITEMS:
        raise UrlUnreadable(N_("The {what} are more than {most}."), what=about.label, most=str(MOST_ITEMS))
    if inner is str:
        return tuple(_listed(part, tuple(about.options() if about.options else parts), about) for part in parts)
    if not pairs:
        return tuple(whole(part, about) for part in parts)
    found = tuple(tuple(whole(one, about) for one in part.split(".")) for part in parts)
    if {len(one) for one in found} != {len(typing.get_args(inner))}:
        raise UrlUnreadable(NO_NUMBER, value=short(text), what=about.label)
    return found
