"""What a component draws, as one frozen dataclass whose fields, packed, are what the browser reads.

The payload is defined only here. ``python -m scripts.picture_types`` writes the types with which the component's
scripts are checked (``<module>_picture.d.ts``) from the same class. An array field (`Floats`, `Bytes`, `Ints`) is sent
as an array, and left out if it is None; every other field is sent as JSON, including nested dataclasses without their
arrays. A value derived from other fields is a method under `@sent`; a field that only serves to derive one is
`Annotated[…, UNSENT]`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack

Result = TypeVar("Result")

UNSENT = "unsent"  # in Annotated: the field is not sent
OPTIONAL = "optional"  # in Annotated: the field is left out if it is None


@dataclass(frozen=True)
class TypedArray:
    """In Annotated: the field is sent as an array of this dtype."""

    dtype: str


@dataclass(frozen=True)
class Parts:
    """In Annotated: names for the items of a tuple, for readers of the types."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Digits:
    """In Annotated: a number, or each one of a list, is rounded to this many significant digits before it is sent."""

    count: int


@dataclass(frozen=True)
class TypeScript:
    """In Annotated: the TypeScript type if Python's says less: one of shared/types.d.ts, or a built-in."""

    name: str


Floats: TypeAlias = Annotated[NDArray[np.floating[Any]], TypedArray("float32")]
Bytes: TypeAlias = Annotated[NDArray[np.uint8] | NDArray[np.bool_], TypedArray("uint8")]
Ints: TypeAlias = Annotated[NDArray[np.integer[Any]], TypedArray("int32")]
IntList: TypeAlias = Annotated[Sequence[int], TypedArray("int32")]
HeadPlace: TypeAlias = Annotated[tuple[int, int], Parts(("layer", "head"))]
CellPlace: TypeAlias = Annotated[tuple[int, int], Parts(("query", "key"))]
CellOrRow: TypeAlias = Annotated[tuple[int, int | None], Parts(("query", "key"))]
Window: TypeAlias = Annotated[tuple[int, int, int, int], Parts(("q0", "q1", "k0", "k1"))]
NumberKind: TypeAlias = Literal["percent", "plain"]
Texts: TypeAlias = Annotated[Mapping[str, str], TypeScript("Texts")]
Palette: TypeAlias = Annotated[dict[str, dict[str, Any]], TypeScript("Palette")]


class _Sent(property):
    """A property that is sent."""


def sent(method: Callable[[Any], Result]) -> Result:
    """Like `property`; the result is sent under the method's name."""
    return _Sent(method)  # pyright: ignore[reportReturnType]  # as a descriptor, read from an instance


@dataclass(frozen=True, eq=False)
class Picture:
    """Base class of all pictures."""

    def _set(self, **values: object) -> None:
        """In ``__post_init__``: replace fields by derived values."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def packed(self) -> bytes:
        """The bytes sent to the browser. Equal pictures give equal bytes. Raises ValueError for NaN in JSON."""
        meta: dict[str, JSON] = {}
        arrays: dict[str, NDArray[Any]] = {}
        for name, hint in parts_of(type(self)).items():
            value, dtype = getattr(self, name), dtype_of(hint)
            if dtype is None and not _is_left_out(value, hint):
                meta[name] = _rounded(plain(value), hint)
            elif dtype is not None and value is not None:
                arrays[name] = np.ascontiguousarray(value, dtype)
        return pack(meta, arrays | {name: value.astype(np.float32) for name, value in self.numbered_arrays().items()})

    def numbered_arrays(self) -> Mapping[str, Floats]:
        """Further arrays, if their number depends on the picture."""
        return {}


@dataclass(frozen=True, eq=False)
class ColoredPicture(Picture):
    """A picture that uses the palette."""

    @sent
    def palette(self) -> Palette:
        """Every colour with a meaning."""
        return palette()


@functools.cache
def parts_of(cls: type) -> dict[str, Any]:
    """What is sent of a picture or a nested dataclass: name → type, fields first, then methods."""
    hints = get_type_hints(cls, include_extras=True)
    parts = {field.name: hints[field.name] for field in fields(cls) if UNSENT not in _said_of(hints[field.name])}
    for base in reversed(cls.__mro__):
        for name, one in vars(base).items():
            if isinstance(one, _Sent):
                parts[name] = get_type_hints(one.fget, include_extras=True)["return"]
    return parts


def dtype_of(hint: Any) -> str | None:
    """The dtype in which a field of this type is sent as an array; None if it is sent as JSON."""
    for one in (hint, *(get_args(hint) if get_origin(hint) in (Union, UnionType) else ())):
        for word in _said_of(one):
            if isinstance(word, TypedArray):
                return word.dtype
    return None


def _said_of(hint: Any) -> tuple[Any, ...]:
    """The metadata of an Annotated type."""
    return getattr(hint, "__metadata__", ())


def is_optional(hint: Any) -> bool:
    """Return True if a field of this type may be left out."""
    return OPTIONAL in _said_of(hint)


def _is_left_out(value: Any, hint: Any) -> bool:
    return value is None and is_optional(hint)


def plain(value: Any) -> JSON:
    """Convert to JSON: dataclasses become their non-array parts, numpy numbers Python's, keys strings."""
    match value:
        case None | str() | bool() | int() | float():
            return value
        case np.generic():
            return value.item()
        case Mapping():
            return {str(key): plain(one) for key, one in value.items()}
        case _ if is_dataclass(value):
            kinds = {name: (getattr(value, name), hint) for name, hint in parts_of(type(value)).items()}
            kept = {name: pair for name, pair in kinds.items() if dtype_of(pair[1]) is None and not _is_left_out(*pair)}
            return {name: _rounded(plain(one), hint) for name, (one, hint) in kept.items()}
        case _:
            return [plain(one) for one in value]


def _rounded(value: Any, hint: Any) -> JSON:
    for word in _said_of(hint):
        if isinstance(word, Digits):
            return [_short(one, word) for one in value] if isinstance(value, list) else _short(value, word)
    return value


def _short(value: float | None, digits: Digits) -> float | None:
    return None if value is None else float(f"{value:.{digits.count}g}")
