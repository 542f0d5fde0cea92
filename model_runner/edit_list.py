"""Changes to a list of edits: a new edit replaces one of the same target."""

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
    """Add an edit to the list; it replaces an edit with another value for the same target.

    Cells hidden in the same places are one edit; a softmax substitute replaces an earlier one. Whether the edits
    contradict each other is left to the model.
    """
    found: list[Any] = list(edits)  # the result is of the argument's kind
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
    """Hide the cells in these places, or unhide them if one of them was hidden."""
    for place, old in enumerate(edits):
        if not isinstance(old, Blocked) or (old.layers, old.heads) != (layers, heads):
            continue
        if not set(cells).isdisjoint(old.cells):
            left = tuple(one for one in old.cells if one not in cells)
            rest = (Blocked(left, layers, heads),) if left else ()
            return (*edits[:place], *rest, *edits[place + 1 :])
    return with_edit(edits, Blocked(cells, layers, heads))


def same_thing(edits: Sequence[Edit], new: Edit) -> Edit | None:
    """The edit in the list that the new one would replace."""
    return next((old for old in edits if _thing(old) == _thing(new)), None)


def _thing(edit: Edit) -> object:
    """An edit's target, without its value."""
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
