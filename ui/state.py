"""What a page holds, as one frozen dataclass; its fields' types say how each value is written, read back and checked.

Out of the value come the address, Back and Forward, what widgets show, and the Python lines of "take it away". A field
is in the address as ``scope.field``, left out at its default. What cannot be read is replaced, and said until the
reader changes something.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from jobs.address_value import (
    DIGITS,
    EMPTY,
    NONE,
    Setting,
    State,
    address_of,
    default_of,
    fields,
    hints,
    options_of,
    setting_of,
    type_of,
    write,
)
from ui import address
from ui.i18n import _
from ui.wording import sentence

N_ = str  # marks a text for Babel without translating it here

MOST_ITEMS = 5000  # of a list in an address


S = TypeVar("S", bound=State)


def setting(default: Any, label: str, **more: Any) -> Any:
    """A field of a page's state with this default; ``more`` as in :class:`Setting`."""
    return dataclasses.field(default=default, metadata={"setting": Setting(label, **more)})


class Unreadable(ValueError):
    """The sentence that says why a part of an address is no value of its field; ``rest`` is what of it is one."""

    def __init__(self, said: str, rest: Any = None) -> None:
        super().__init__(said)
        self.rest = rest


def current(kind: type[S], **usual: Any) -> S:
    """What the page holds; ``usual`` replaces defaults that depend on the text. The unreadable is told and dropped."""
    value, problems = held(kind, **usual)
    tell(kind, *problems.values())
    return value


def held(kind: type[S], **usual: Any) -> tuple[S, dict[str, str]]:
    """The same, untold: the sentence of each field that could not be read, which is dropped."""
    values: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name in fields(kind):
        try:
            values[name] = _held(kind, name, usual)
        except Unreadable as error:
            problems[name] = str(error)
            _forget(kind, name)
            values[name] = error.rest or usual.get(name, default_of(kind, name))
            if error.rest:
                change(kind, **{name: error.rest})
    return kind(**values), problems


def change(kind: type[State], **values: Any) -> None:
    """Hold these values from now on; None means the usual one of a field that may be None."""
    address.told().pop(kind.SCOPE, None)
    keep(kind, **values)


def keep(kind: type[State], **values: Any) -> None:
    """The same of values that the reader did not choose: what was said of the address stays."""
    for name, value in values.items():
        if type_of(kind, name) is Mapping:
            for key, one in value.items():
                address.choose(f"{address_of(kind, name)}.{key}", "" if one is None else str(one), "")
        else:
            address.choose(address_of(kind, name), write(value), write(default_of(kind, name)))


def refuse(kind: type[State], name: str, problem: str, *, item: str = "") -> None:
    """Say why a value that could be read is not possible here, and drop it, or one ``item`` of several by name."""
    _forget(kind, f"{name}.{item}" if item else name)
    tell(kind, problem)


def tell(kind: type[State], *problems: str) -> None:
    """Below the head of the page, and in the runs to come, which may be the page's own and not the reader's."""
    held = address.told().setdefault(kind.SCOPE, [])
    held += [problem for problem in problems if problem not in held]
    if held:
        from ui import session  # which reads its own values with this module

        session.say(kind.SCOPE, held)


def _forget(kind: type[State], name: str) -> None:
    start = address_of(kind, name)
    for known in address.held():
        if known == start or known.startswith(f"{start}."):
            address.choose(known, "", "")


def _held(kind: type[State], name: str, usual: Mapping[str, Any]) -> Any:
    if type_of(kind, name) is Mapping:
        about, start = setting_of(kind, name), f"{address_of(kind, name)}."
        keys = [known.removeprefix(start) for known in address.held() if known.startswith(start)]
        label = about.items or str
        return {key: _whole(address.written(start + key) or "", about, _(label(key))) for key in keys}
    written = address.written(address_of(kind, name))
    return usual.get(name, default_of(kind, name)) if written is None else read(kind, name, written)


def read(kind: type[State], name: str, text: str) -> Any:
    """What :func:`write` wrote. Raises Unreadable with a sentence."""
    about, wanted = setting_of(kind, name), type_of(kind, name)
    if text == NONE and type(None) in typing.get_args(hints(kind)[name]):
        return None
    if typing.get_origin(wanted) is Literal or (about.options is not None and wanted is str):
        return _listed(text, options_of(kind, name), about)
    if wanted is bool:
        return _listed(text, ("0", "1"), about) == "1"
    if wanted in (int, float, str):
        return {int: _whole, float: _real, str: _text}[wanted](text, about)
    if typing.get_origin(wanted) is tuple:
        inner = typing.get_args(wanted)[0]
        edits = any(map(dataclasses.is_dataclass, typing.get_args(inner)))
        return _edits(text) if edits and text != EMPTY else _several(text, inner, about)
    if hasattr(wanted, "_fields"):
        return _named(text, wanted, about)
    raise TypeError(f"{kind.__name__}.{name}: no way to write a {wanted} in an address")


def _listed(text: str, options: tuple[str, ...], about: Setting) -> str:
    if text not in options:
        raise Unreadable(_("“{value}” is no choice for {what}.").format(value=short(text), what=_(about.label)))
    return text


def _text(text: str, about: Setting) -> str:
    if len(text) > about.longest:
        words = _("The {what} has more than {most} characters.")
        raise Unreadable(words.format(what=_(about.label), most=about.longest))
    return text


def _whole(text: str, about: Setting, what: str = "") -> int:
    label = what or _(about.label)
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise Unreadable(_("“{value}” is not a number for {what}.").format(value=short(text), what=label))
    if len(digits) > about.digits:
        raise Unreadable(_("“{value}” is too large a number for {what}.").format(value=short(text), what=label))
    return int(_bounded(int(text), about, label))


def _real(text: str, about: Setting) -> float:
    label = _(about.label)
    try:
        value = float(text) if len(text) <= 2 * DIGITS and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Unreadable(_("“{value}” is not a number for {what}.").format(value=short(text), what=label))
    return _bounded(value, about, label)


def _bounded(value: float, about: Setting, label: str) -> float:
    if value < about.least:
        words = _("The {what} is {value}; it must be at least {least}.")
        raise Unreadable(words.format(what=label, value=value, least=about.least))
    if value > about.most:
        words = _("The {what} is {value}; it may be at most {most}.")
        raise Unreadable(words.format(what=label, value=value, most=about.most))
    return value


def _edits(text: str) -> tuple[Any, ...]:
    from model_runner.edit_text import readable  # the engine is imported only after the frame is painted

    edits, problem = readable(text)
    if problem is not None:
        raise Unreadable(sentence(problem), edits)
    return edits


def _named(text: str, wanted: Any, about: Setting) -> Any:
    parts = text.split("-")
    if len(parts) != len(wanted._fields) or not all(part.isascii() and part.isdigit() for part in parts):
        raise Unreadable(_("“{value}” is not a number for {what}.").format(value=short(text), what=_(about.label)))
    return wanted(*(_whole(part, about) for part in parts))


def _several(text: str, inner: Any, about: Setting) -> tuple[Any, ...]:
    if text == EMPTY:
        return ()
    pairs = typing.get_origin(inner) is tuple
    parts = text.split("-" if pairs else ".")
    if len(parts) > MOST_ITEMS:
        raise Unreadable(_("The {what} are more than {most}.").format(what=_(about.label), most=MOST_ITEMS))
    if inner is str:
        return tuple(_listed(part, tuple(about.options() if about.options else parts), about) for part in parts)
    if not pairs:
        return tuple(_whole(part, about) for part in parts)
    found = tuple(tuple(_whole(one, about) for one in part.split(".")) for part in parts)
    if {len(one) for one in found} != {len(typing.get_args(inner))}:
        raise Unreadable(_("“{value}” is not a number for {what}.").format(value=short(text), what=_(about.label)))
    return found


def short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"
