"""A list of edits, changed one by one: what says something of the same thing as another takes its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from model_runner.edits import (
    Blocked,
    Edit,
    Masked,
    MeanHead,
    OfAttention,
    OneEdit,
    Places,
    ScaledHead,
    SharpenedHead,
    SwappedHeads,
)
from model_runner.matrix_edit import ScaledSingulars

Cell = tuple[int, int]
E = TypeVar("E", bound=Edit)


def with_edit(edits: Sequence[E], new: E) -> tuple[E, ...]:
    """The list with one more; another value for the same thing takes the place of the one before.

    Cells hidden in the same places are one edit; a substitute of softmax takes the place of the one
    before. Whether the others contradict the new one is for the model to say.
    """
    found: list[Any] = list(edits)  # of one kind comes one of that kind
    for place, old in enumerate(found):
        if _thing(old) == _thing(new):
            found[place] = _both(old, new)
            return tuple(found)
    return (*found, new)


def _both(old: Edit, new: Edit) -> Edit:
    match old, new:
        case OfAttention(), OfAttention(attention, inner):
            return OfAttention(attention, _both(old.edit, inner))  # type: ignore[arg-type]  # of one edit comes one
        case Blocked(), Blocked(cells, layers, heads):
            return Blocked(tuple(dict.fromkeys((*old.cells, *cells))), layers, heads)
        case _:
            return new


def of_attention(edits: Sequence[Edit], attention: str | None, own: Sequence[OneEdit]) -> tuple[Edit, ...]:
    """The list with these as the edits of this attention, see :func:`model_runner.edits.edits_of`."""
    others = [edit for edit in edits if (edit.attention if isinstance(edit, OfAttention) else None) != attention]
    return (*others, *(own if attention is None else (OfAttention(attention, edit) for edit in own)))


def toggled(edits: Sequence[OneEdit], cells: tuple[Cell, ...], layers: Places, heads: Places) -> tuple[OneEdit, ...]:
    """The cells hidden in these places, or given back where one of them was."""
    for place, old in enumerate(edits):
        if not isinstance(old, Blocked) or (old.layers, old.heads) != (layers, heads):
            continue
        if not set(cells).isdisjoint(old.cells):
            left = tuple(one for one in old.cells if one not in cells)
            rest = (Blocked(left, layers, heads),) if left else ()
            return (*edits[:place], *rest, *edits[place + 1 :])
    return with_edit(edits, Blocked(cells, layers, heads))


def same_thing(edits: Sequence[Edit], new: Edit) -> Edit | None:
    """The edit of the list that the new one would take the place of."""
    return next((old for old in edits if _thing(old) == _thing(new)), None)


def _thing(edit: Edit) -> object:
    """What an edit sets, whatever it sets it to."""
    match edit:
        case ScaledHead(layer, head) | MeanHead(layer, head) | SharpenedHead(layer, head):
            return type(edit), layer, head
        case ScaledSingulars(layer, matrix):
            return type(edit), layer, matrix
        case SwappedHeads(layer, first, second):
            return type(edit), layer, frozenset((first, second))
        case Blocked(_, layers, heads) | Masked(_, _, layers, heads):
            return type(edit), layers, heads
        case OfAttention(attention, inner):
            return attention, _thing(inner)
        case _:
            return type(edit)
