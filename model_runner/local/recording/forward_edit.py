"""Combines the edits of a request for one forward, after checking that they fit the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor

from model_runner.edits import (
    Blocked,
    Edit,
    HeadEdit,
    Int8Cache,
    Masked,
    MeanHead,
    OfAttention,
    ScaledHead,
    SharedKeys,
    SharpenedHead,
    SwappedHeads,
)
from model_runner.errors import N_, EditNotPossible, EditsContradict, NoSuchAttention, NoSuchPlace, NoWeights
from model_runner.layer_edit import LayerEdit
from model_runner.local.recording.changed_matrices import ChangedMatrix
from model_runner.local.recording.edited_rotation import EditedRotation, RotationChange
from model_runner.local.recording.indexer import IndexerChange
from model_runner.mask_rule import MaskEdit
from model_runner.rotation_edit import RotationEdit
from model_runner.substitution import Substituted


@dataclass(frozen=True, eq=False)
class ForwardEdit:
    """All edits of one forward: by the qualified name of the attention module, of the rotation, of matrices, and of how
    many keys indexers choose.
    """

    layers: Mapping[str, LayerEdit]
    rotation: RotationChange | None = None
    matrices: tuple[ChangedMatrix, ...] = ()
    indexers: IndexerChange | None = None


@dataclass(frozen=True, eq=False)
class EditShape:
    """What edits must fit: the attention modules by layer, and the counts of heads."""

    attention: Mapping[int, str]
    kinds: tuple[str, ...]
    n_heads: int
    n_kv_heads: int


def forward_edit(edits: Iterable[Edit], shape: EditShape, thetas: tuple[Tensor, ...]) -> ForwardEdit | None:
    """Combine the edits; None if there are none. ``thetas``: the rotation's frequencies, if an edit needs them.

    Raises NoSuchPlace or NoWeights for places that the model does not have, EditsContradict, EditNotPossible.
    """
    edits = tuple(edits)
    if not edits:
        return None
    _check(edits, shape)
    of_rotation = tuple(edit for edit in edits if isinstance(edit, RotationEdit))
    layers = {name: _layer_edit(layer, edits) for layer, name in shape.attention.items()}
    return ForwardEdit(layers, EditedRotation(of_rotation, thetas) if of_rotation else None)


def _layer_edit(layer: int, edits: tuple[Edit, ...]) -> LayerEdit:
    return LayerEdit(
        masks=_mask_edits(edits, layer),
        kv_heads=next((edit.kv_heads for edit in edits if isinstance(edit, SharedKeys)), None),
        int8=any(isinstance(edit, Int8Cache) for edit in edits),
        heads=tuple(edit for edit in edits if isinstance(edit, HeadEdit) and edit.layer == layer),
        substitutes=_substitutes(edits, layer),
    )


def _mask_edits(edits: tuple[Edit, ...], layer: int) -> tuple[MaskEdit, ...]:
    """Edits of masks, followed by substitutes that cannot apply a mask."""
    of_masks = (edit for edit in edits if isinstance(edit, MaskEdit) and not isinstance(edit, Substituted))
    own = (edit for edit in of_masks if (layers := getattr(edit, "layers", None)) is None or layer in layers)
    return (*own, *(edit for edit in _substitutes(edits, layer) if edit.unbound))


def _substitutes(edits: tuple[Edit, ...], layer: int) -> tuple[Substituted, ...]:
    return tuple(edit for edit in edits if isinstance(edit, Substituted) and edit.here(layer))


def _check(edits: tuple[Edit, ...], shape: EditShape) -> None:  # noqa: C901  a table: one case a kind of edit
    """Check that every layer and head exists and has softmax attention, and that no two edits conflict."""
    answered: set[tuple[str, int, int]] = set()

    def answer(what: str, layer: int, head: int) -> None:
        if (what, layer, head) in answered:
            raise EditsContradict(layer=layer, head=head)
        answered.add((what, layer, head))

    for edit in edits:
        match edit:
            case OfAttention(attention):
                raise NoSuchAttention(wanted=attention, names="–")
            case Masked() | Blocked():
                _check_places(edit.layers or (), edit.heads or (), shape)
            case Substituted(_, _, layers, heads):
                _check_places(layers or (), heads or (), shape)
                for layer in shape.attention if layers is None else layers:
                    for head in range(shape.n_heads) if heads is None else heads:
                        answer("softmax", layer, head)
            case SharedKeys(kv_heads):
                if shape.n_kv_heads % kv_heads:
                    raise EditNotPossible(reason=N_("the key/value heads cannot be shared out evenly among that many"))
                if sum(isinstance(other, SharedKeys) for other in edits) > 1:
                    raise EditNotPossible(reason=N_("keys can be shared in one way only"))
            case SwappedHeads(layer, first, second):
                _check_places((layer,), (first, second), shape)
                answer("output", layer, first)
                if second != first:
                    answer("output", layer, second)
            case ScaledHead(layer, head) | MeanHead(layer, head):
                _check_places((layer,), (head,), shape)
                answer("output", layer, head)
            case SharpenedHead(layer, head):
                _check_places((layer,), (head,), shape)
                answer("softmax", layer, head)
            case _:
                pass


def _check_places(layers: Iterable[int], heads: Iterable[int], shape: EditShape) -> None:
    for layer in layers:
        if not 0 <= layer < len(shape.kinds):
            raise NoSuchPlace(what=N_("layer"), value=layer, count=len(shape.kinds))
        if layer not in shape.attention:
            raise NoWeights(layer=layer, kind=shape.kinds[layer])
    for head in heads:
        if not 0 <= head < shape.n_heads:
            raise NoSuchPlace(what=N_("head"), value=head, count=shape.n_heads)
