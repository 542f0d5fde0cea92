"""What a page holds, as one frozen dataclass; its fields' types say how each value is written, read back and checked.

Out of the value come the address, Back and Forward, what widgets show, and the Python lines of "Export". A field
is in the address as ``scope.field``, left out at its default. What cannot be read is replaced, and said until the
reader changes something.
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
    """What the page holds; ``usual`` replaces defaults that depend on the text. The unreadable is told and dropped."""
    value, problems = held(kind, **usual)
    tell(kind, *problems.values())
    return value


def held(kind: type[S], **usual: object) -> tuple[S, dict[str, str]]:
    """The same, untold: the sentence of each field that could not be read, which is dropped."""
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
    """Hold these values from now on; None means the usual one of a field that may be None."""
    url_warnings.forget(kind.SCOPE)
    keep(kind, **values)


def keep(kind: type[State], **values: object) -> None:
    """The same of values that the reader did not choose: what was said of the address stays."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            for key, one in cast(Mapping[str, object], value).items():
                url_state.choose(f"{address_of(kind, name)}.{key}", "" if one is None else str(one), "")
        else:
            url_state.choose(address_of(kind, name), write(value), write(default_of(kind, name)))


def refuse(kind: type[State], name: str, problem: str, *, item: str = "") -> None:
    """Say why a value that could be read is not possible here, and drop it, or one ``item`` of several by name."""
    _forget(kind, f"{name}.{item}" if item else name)
    tell(kind, problem)


def tell(kind: type[State], *problems: str) -> None:
    """Of this page's address."""
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
