"""Edits in words: short enough for a button, and in full for files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attention.patterns import BY_NAME
from model_runner.edits import (
    Blocked,
    ChosenKeys,
    Documents,
    Edit,
    Int8Cache,
    KeepLast,
    Masked,
    MeanHead,
    OfAttention,
    Places,
    ScaledHead,
    SharedKeys,
    SharpenedHead,
    SwappedHeads,
)
from model_runner.matrix_edit import ScaledSingulars
from model_runner.rotation_edit import (
    NtkTheta,
    RestartedPositions,
    RotationEdit,
    ScaledTheta,
    ShiftedPositions,
    Unrotated,
    YarnTheta,
)
from model_runner.substitution import Substituted

Translate = Callable[[str], str]
N_ = str  # marks a text for Babel without translating it here

CELLS = 12  # of one edit that a file names; its Python code has all

OF_THREE = {"encoder": N_("encoder"), "decoder": N_("decoder"), "cross": N_("cross")}


def edit_name(edit: Edit, _: Translate) -> str:  # noqa: C901  a table: one case a kind of edit
    """What the edit does and where: "L3H1 ablated"; ``_`` translates."""
    match edit:
        case OfAttention("cross", Blocked(((query, key),), layers, heads)):
            words = _("cross: written {query} → read {key} hidden in {where}")
            return words.format(query=query, key=key, where=_where(layers, heads, _))
        case OfAttention(attention, inner):
            return f"{_(OF_THREE[attention])}: {edit_name(inner, _)}"
        case ScaledHead(layer, head, factor):
            words = _("{head} ablated") if factor == 0 else _("{head} × {factor}")
            return words.format(head=f"L{layer}H{head}", factor=f"{factor:g}")
        case MeanHead(layer, head):
            return _("{head} = its mean").format(head=f"L{layer}H{head}")
        case SharpenedHead(layer, head, temperature):
            return _("{head} at temperature {value}").format(head=f"L{layer}H{head}", value=f"{temperature:g}")
        case SwappedHeads(layer, first, second):
            return f"L{layer}H{first} ⇄ L{layer}H{second}"
        case Blocked(cells, layers, heads):
            if len(cells) == 1:
                query, key = cells[0]
                return _("{query} → {key} hidden in {where}").format(
                    query=query, key=key, where=_where(layers, heads, _)
                )
            return _("{count} cells hidden in {where}").format(count=len(cells), where=_where(layers, heads, _))
        case Masked(pattern, values, layers, heads):
            numbers = "".join(f" {value}" for _name, value in values)
            return _("{pattern} in {where}").format(
                pattern=_(BY_NAME[pattern].label) + numbers, where=_where(layers, heads, _)
            )
        case Substituted(_variant, values, layers, heads):
            words = _("{variant} for softmax in {where}, untrained")
            return words.format(variant=_with_numbers(edit, values, _), where=_where(layers, heads, _))
        case ScaledSingulars(layer, matrix, factors):
            return f"L{layer} {matrix}: σ × {', '.join(f'{one:g}' for one in factors)}"
        case ChosenKeys(None):
            return _("queries read every key")
        case ChosenKeys(top_k):
            return _("queries read {count} chosen keys").format(count=top_k)
        case SharedKeys(kv_heads):
            return _("key/value heads averaged to {count}").format(count=kv_heads)
        case KeepLast(window, sinks):
            return _("a cache of the first {sinks} and last {window}").format(sinks=sinks, window=window)
        case Int8Cache():
            return _("a cache in int8")
        case Documents(starts):
            return _("documents from {starts}").format(starts=", ".join(map(str, starts)))
        case _:
            return _rotation(edit, _)


def _with_numbers(edit: Substituted, values: Sequence[tuple[str, int]], _: Translate) -> str:
    """A label with its numbers: DeltaNet strength β 1, kept α 0.9."""
    known = {one.name: one for one in edit.row.parameters}
    numbers = [f"{_(known[name].label)} {value / known[name].per:g}" for name, value in values]
    return " ".join(filter(None, [_(edit.row.label), ", ".join(numbers)]))


def described(edits: Sequence[Edit]) -> str:
    """All edits in English, for files, with hidden cells listed one by one; "nothing" for none."""
    return ", ".join(map(_in_full, edits)) or "nothing"


def _in_full(edit: Edit) -> str:
    match edit:
        case OfAttention(attention, inner):
            return f"{attention}: {_in_full(inner)}"
        case Blocked(cells, layers, heads) if len(cells) > 1:
            named = ", ".join(f"{query} → {key}" for query, key in cells[:CELLS])
            more = f" and {len(cells) - CELLS} more" if len(cells) > CELLS else ""
            return f"{named}{more} hidden in {_where(layers, heads, str)}"
        case _:
            return edit_name(edit, str)


def _rotation(edit: RotationEdit, _: Translate) -> str:
    match edit:
        case Unrotated():
            return _("no rotation")
        case ScaledTheta(factor):
            return f"θ × {factor:g}"
        case NtkTheta(factor):
            return f"NTK × {factor:g}"
        case YarnTheta(factor, _context):
            return f"YaRN × {factor:g}"
        case ShiftedPositions(by):
            return _("positions {by}").format(by=f"{by:+d}")
        case RestartedPositions(starts):
            return _("positions restart at {starts}").format(starts=", ".join(map(str, starts)))


def _where(layers: Places, heads: Places, _: Translate) -> str:
    """All layers, L3, L3H1, or both lists of numbers."""
    if layers is None and heads is None:
        return _("all layers")
    if layers is None:
        return _("{heads} of all layers").format(heads=_numbered("H", heads or ()))
    if heads is None:
        return _numbered("L", layers)
    if len(layers) == len(heads) == 1:
        return f"L{layers[0]}H{heads[0]}"
    return _("{heads} of {layers}").format(heads=_numbered("H", heads), layers=_numbered("L", layers))


def _numbered(letter: str, places: tuple[int, ...]) -> str:
    return ", ".join(f"{letter}{place}" for place in places)
