"""A page's state as one frozen dataclass, whose field types define how each value is written, parsed and checked.

The URL, Back and Forward, widget values and the Python code in "Export" all derive from it. A field appears in the URL
as ``scope.field`` and is left out at its default. An invalid value is replaced, and reported until the reader changes
something.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar, Unpack, cast

from ui.state import url_state
from ui.state.url_parsing import UrlUnreadable, read, whole
from ui.state.url_values import (
    FieldOptions,
    FieldSpec,
    State,
    address_of,
    default_of,
    fields,
    setting_of,
    type_of,
    write,
)
from ui.wording import url_warnings
from ui.wording.sentences import sentence

S = TypeVar("S", bound=State)
V = TypeVar("V")


def setting(default: V, label: str, **more: Unpack[FieldOptions]) -> V:
    """A field of a page's state with this default; ``more`` as in :class:`FieldSpec`."""
    return dataclasses.field(default=default, metadata={"setting": FieldSpec(label, **more)})


def current(kind: type[S], **usual: object) -> S:
    """Return the page's state; ``usual`` overrides defaults that depend on the text. Invalid values are reported and
    dropped.
    """
    value, problems = held(kind, **usual)
    tell(kind, *problems.values())
    return value


def held(kind: type[S], **usual: object) -> tuple[S, dict[str, str]]:
    """Return the state and, instead of reporting them, the errors of invalid fields by name."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name in fields(kind):
        try:
            values[name] = _held(kind, name, usual)
        except UrlUnreadable as error:
            problems[name] = sentence(error)
            _forget(kind, name)
            values[name] = error.rest or usual.get(name, default_of(kind, name))
            if error.rest:
                change(kind, **{name: error.rest})
    return kind(**values), problems


def change(kind: type[State], **values: object) -> None:
    """Change these fields; None restores the default of an optional field."""
    url_warnings.forget(kind.SCOPE)
    keep(kind, **values)


def keep(kind: type[State], **values: object) -> None:
    """Like :func:`change`, for values that the reader did not choose: pending URL warnings stay."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            for key, one in cast(Mapping[str, object], value).items():
                url_state.choose(f"{address_of(kind, name)}.{key}", "" if one is None else str(one), "")
        else:
            url_state.choose(address_of(kind, name), write(value), write(default_of(kind, name)))


def refuse(kind: type[State], name: str, problem: str, *, item: str = "") -> None:
    """Report that a parsed value is not possible here and drop it, or one ``item`` of a field with several."""
    _forget(kind, f"{name}.{item}" if item else name)
    tell(kind, problem)


def tell(kind: type[State], *problems: str) -> None:
    """Report a problem in this page's URL."""
    url_warnings.tell(kind.SCOPE, *problems)


def _forget(kind: type[State], name: str) -> None:
    start = address_of(kind, name)
    for known in url_state.held():
        if known == start or known.startswith(f"{start}."):
            url_state.choose(known, "", "")


def _held(kind: type[State], name: str, usual: Mapping[str, object]) -> object:
    if type_of(kind, name) is Mapping:
        about, start = setting_of(kind, name), f"{address_of(kind, name)}."
        keys = [known.removeprefix(start) for known in url_state.held() if known.startswith(start)]
        label = about.items or str
        return {key: whole(url_state.written(start + key) or "", about, label(key)) for key in keys}
    written = url_state.written(address_of(kind, name))
    return usual.get(name, default_of(kind, name)) if written is None else read(kind, name, written)
