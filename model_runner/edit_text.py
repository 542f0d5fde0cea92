"""Edits as text for a URL: ``ScaledHead(1,2,0.0);cross:Blocked(((5,0),),(1,),None)``, values in order."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import types
import typing
from collections.abc import Sequence
from typing import Any

from model_runner.edits import ATTENTIONS, KINDS, Edit, OfAttention
from model_runner.errors import N_, EditNotPossible, Reason, RunnerError

MOST = 64  # edits in one URL
LARGEST = 10**7  # upper bound of integers: layers, positions and parameters of a pattern
SMALLEST, WIDEST = 1e-6, 1e6  # magnitudes of a factor or temperature; beyond, float32 overflows where it is used
UNREADABLE = N_("“{text}” in the link is not an edit")


def written(edits: Sequence[Edit]) -> str:
    """The edits in one line without spaces; empty for none."""
    return ";".join(map(_written, edits))


def _written(edit: Edit) -> str:
    if isinstance(edit, OfAttention):
        return f"{edit.attention}:{_written(edit.edit)}"
    return f"{type(edit).__name__}({_values(edit)})"


def _values(edit: Edit) -> str:
    values = [getattr(edit, field.name) for field in dataclasses.fields(edit)]
    return ",".join(repr(value).replace(" ", "") for value in values)  # no value contains text with spaces


def read(text: str) -> tuple[Edit, ...]:
    """Parse what :func:`written` wrote. Raises EditNotPossible for anything else, EditInvalid for invalid values."""
    return tuple(_one(part) for part in text.split(";")[: MOST + 1] if part) if text.count(";") < MOST else _none(text)


def readable(text: str) -> tuple[tuple[Edit, ...], RunnerError | None]:
    """The valid edits in the text, and the error of the first invalid one."""
    try:
        return read(text), None
    except RunnerError as error:
        problem = error
    found: list[Edit] = []
    for part in text.split(";")[:MOST]:
        with contextlib.suppress(RunnerError):
            found += read(part)
    return tuple(found), problem


def _one(part: str) -> Any:
    attention, colon, inner = part.partition(":")
    if colon and attention in ATTENTIONS:
        return OfAttention(attention, _one(inner)) if inner.partition(":")[0] not in ATTENTIONS else _none(part)
    name, opening, rest = part.partition("(")
    kind = KINDS.get(name)
    if kind is None or not opening or not rest.endswith(")"):
        return _none(part)
    try:
        values = ast.literal_eval(f"({rest[:-1]},)") if rest != ")" else ()
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _none(part)
    wanted = typing.get_type_hints(kind)
    if len(values) != len(wanted) or not all(map(_fits, values, wanted.values())):
        return _none(part)
    return kind(*values)


def _none(text: str) -> Any:
    raise EditNotPossible(reason=Reason(UNREADABLE, {"text": text if len(text) <= 60 else f"{text[:60]}…"}))


def _fits(value: object, wanted: Any) -> bool:
    """True if a value has the declared type of an edit's field."""
    origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = [inner[0]] * len(value) if len(inner) == 2 and inner[1] is Ellipsis else list(inner)
        return len(value) == len(kinds) and all(map(_fits, value, kinds))
    if isinstance(value, int) and abs(value) > LARGEST:
        return False
    if wanted is float:
        return type(value) in (int, float) and (value == 0 or SMALLEST <= abs(typing.cast(float, value)) <= WIDEST)
    return type(value) is wanted
