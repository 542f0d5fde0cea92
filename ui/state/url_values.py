"""A page's state described by a dataclass's fields, and how a value is written in the URL."""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypedDict

DIGITS = 16  # of a number in a URL; more than a float64 distinguishes
NONE, EMPTY = "none", "-"  # no value, and an empty list


class State(Protocol):
    """A frozen dataclass whose fields were made by ``ui.state.page_state.setting``."""

    SCOPE: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclass(frozen=True)
class FieldSpec:
    """What a field declares beyond its type: its name for the reader, and inclusive bounds of its numbers.

    ``options`` are the allowed texts if they are defined elsewhere; ``max_length`` is in characters and ``digits``
    limits integers; ``items`` names each number of a field with several.
    """

    label: str
    min: float = -math.inf
    max: float = math.inf
    options: Callable[[], typing.Iterable[str]] | None = None
    max_length: int = 200
    digits: int = DIGITS
    items: Callable[[str], str] | None = None


class FieldOptions(TypedDict, total=False):
    """Arguments of :class:`FieldSpec` besides the label."""

    min: float
    max: float
    options: Callable[[], typing.Iterable[str]] | None
    max_length: int
    digits: int
    items: Callable[[str], str] | None


@functools.cache
def hints(kind: type[State]) -> dict[str, Any]:
    """The resolved types of the fields."""
    return {name: hint for name, hint in typing.get_type_hints(kind).items() if name in kind.__dataclass_fields__}


def fields(kind: type[State]) -> list[str]:
    """The field names, in order."""
    return [name for name in kind.__dataclass_fields__ if name != "SCOPE"]


def setting_of(kind: type[State], name: str) -> FieldSpec:
    return kind.__dataclass_fields__[name].metadata["setting"]


def default_of(kind: type[State], name: str) -> Any:
    return kind.__dataclass_fields__[name].default


def address_of(kind: type[State], name: str) -> str:
    """The field's URL parameter, which is also its widget key; state shared by all pages has no scope."""
    return f"{kind.SCOPE}.{name}" if kind.SCOPE else name


def options_of(kind: type[State], name: str) -> tuple[str, ...]:
    """The allowed values of an enumerated field."""
    listed = setting_of(kind, name).options
    return tuple(listed()) if listed is not None else typing.get_args(hints(kind)[name])


def type_of(kind: type[State], name: str) -> Any:
    """The field's type without None."""
    hint = hints(kind)[name]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        hint = next(one for one in typing.get_args(hint) if one is not type(None))
    origin = typing.get_origin(hint)
    return Mapping if origin is Mapping else hint


def write(value: object) -> str:
    """Format a value for the URL: numbers as they are, booleans as 0 and 1, lists 1.3.5, pairs 5.0-6.1, edges 0-3-2."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return "-".join(map(str, value))
    if isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
        from model_runner import edit_text  # the engine is imported only after the frame is painted

        return edit_text.written(value)
    if isinstance(value, tuple):
        parts = [".".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value]
        return ("-" if value and isinstance(value[0], tuple) else ".").join(parts) or EMPTY
    return f"{value:.12g}" if isinstance(value, float) else str(value)
