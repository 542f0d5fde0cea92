"""The edits of a request as the attention of one layer takes them: what to do to q, k, v, the mask and the output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention import masks
from attention.masks import Rule
from attention.patterns import BY_NAME
from model_runner.edits import (
    Blocked,
    Documents,
    Edit,
    HeadEdit,
    Int8Cache,
    KeepLast,
    Masked,
    MeanHead,
    Places,
    ScaledHead,
    SharedKeys,
    SharpenedHead,
    SwappedHeads,
)
from model_runner.errors import N_, EditNotPossible, EditsContradict, NoSuchPlace, NoWeights
from model_runner.mask_rule import MaskEdit, MaskRule
from model_runner.turning import RotationEdit, Turn, Turning

INT8_STEPS = 127  # of either sign: −128 stays unused, so that the scale is symmetric


@dataclass(frozen=True, eq=False)
class LayerEdit:
    """What happens to one layer; tensors are (batch, heads, tokens, d) before attention, tokens first after it."""

    masks: tuple[MaskEdit, ...] = ()
    kv_heads: int | None = None
    int8: bool = False
    heads: tuple[HeadEdit, ...] = ()

    def read(self, x: Tensor) -> Tensor:
        """Keys or values as the edited cache gives them back."""
        if self.kv_heads is not None:
            x = mean_pooled(x, self.kv_heads)
        return through_int8(x) if self.int8 else x

    def sharpen(self, query: Tensor) -> Tensor:
        """Queries whose scores come out divided by their head's temperature."""
        for edit in self.heads:
            if isinstance(edit, SharpenedHead):
                query = query.clone()
                query[:, edit.head] /= edit.temperature
        return query

    def rule(self, own: MaskRule) -> MaskRule:
        """The layer's mask with the edits laid over it, once."""
        return own if own.edits or not self.masks else replace(own, edits=self.masks)

    def passed_on(self, output: Float[Tensor, "batch queries heads d_value"]) -> Tensor:
        """What the heads give to the output projection; the tensor itself where nothing changes."""
        for edit in self.heads:
            if isinstance(edit, SharpenedHead):
                continue
            output = output.clone()
            match edit:
                case ScaledHead(_, head, factor):
                    output[:, :, head] *= factor
                case MeanHead(_, head):
                    output[:, :, head] = output[:, :, head].mean(dim=1, keepdim=True)
                case SwappedHeads(_, first, second):
                    output[:, :, [first, second]] = output[:, :, [second, first]]
        return output


@dataclass(frozen=True, eq=False)
class ForwardEdit:
    """All edits of one forward: by the qualified name of the attention module, and of the rotation."""

    layers: Mapping[str, LayerEdit]
    turn: Turning | None = None


@dataclass(frozen=True, eq=False)
class Shape:
    """What edits must fit: the attention modules by layer, and the counts of heads."""

    attention: Mapping[int, str]
    kinds: tuple[str, ...]
    n_heads: int
    n_kv_heads: int


def forward_edit(edits: Iterable[Edit], shape: Shape, thetas: tuple[Tensor, ...]) -> ForwardEdit | None:
    """The edits put together; None where there are none. ``thetas``: the rotation's frequencies, if an edit turns it.

    Raises NoSuchPlace, NoWeights for places the model does not have, EditsContradict, EditNotPossible.
    """
    edits = tuple(edits)
    if not edits:
        return None
    _check(edits, shape)
    turns = tuple(edit for edit in edits if isinstance(edit, RotationEdit))
    layers = {name: _layer_edit(layer, edits) for layer, name in shape.attention.items()}
    return ForwardEdit(layers, Turn(turns, thetas) if turns else None)


def _layer_edit(layer: int, edits: tuple[Edit, ...]) -> LayerEdit:
    return LayerEdit(
        masks=tuple(found for edit in edits if (found := _mask_edit(edit, layer)) is not None),
        kv_heads=next((edit.kv_heads for edit in edits if isinstance(edit, SharedKeys)), None),
        int8=any(isinstance(edit, Int8Cache) for edit in edits),
        heads=tuple(edit for edit in edits if isinstance(edit, HeadEdit) and edit.layer == layer),
    )


def _mask_edit(edit: Edit, layer: int) -> MaskEdit | None:
    match edit:
        case KeepLast(window, sinks):
            return MaskEdit(masks.recent(window, sinks=sinks))
        case Documents(starts):
            return MaskEdit(masks.same_document(starts))
        case Masked(name, values, layers, heads) if layers is None or layer in layers:
            pattern = BY_NAME[name]
            return MaskEdit(pattern.rule(dict(values)), _set(heads), pattern.ahead)
        case Blocked(cells, layers, heads) if layers is None or layer in layers:
            return MaskEdit(_without(cells), _set(heads))
        case _:
            return None


def _set(places: Places) -> frozenset[int] | None:
    return None if places is None else frozenset(places)


def _without(cells: tuple[tuple[int, int], ...]) -> Rule:
    def rule(batch: Tensor, head: Tensor, q_idx: Tensor, k_idx: Tensor) -> Tensor:
        kept = (q_idx >= 0) & (k_idx >= 0)
        for query, key in cells:
            kept = kept & ~((q_idx == query) & (k_idx == key))
        return kept

    return rule


def _check(edits: tuple[Edit, ...], shape: Shape) -> None:
    """Every layer and head exists and has softmax attention, and no two edits answer the same question."""
    answered: set[tuple[str, int, int]] = set()

    def answer(what: str, layer: int, head: int) -> None:
        if (what, layer, head) in answered:
            raise EditsContradict(layer=layer, head=head)
        answered.add((what, layer, head))

    for edit in edits:
        match edit:
            case Masked() | Blocked():
                _check_places(edit.layers or (), edit.heads or (), shape)
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


def _check_places(layers: Iterable[int], heads: Iterable[int], shape: Shape) -> None:
    for layer in layers:
        if not 0 <= layer < len(shape.kinds):
            raise NoSuchPlace(what=N_("layer"), value=layer, count=len(shape.kinds))
        if layer not in shape.attention:
            raise NoWeights(layer=layer, kind=shape.kinds[layer])
    for head in heads:
        if not 0 <= head < shape.n_heads:
            raise NoSuchPlace(what=N_("head"), value=head, count=shape.n_heads)


def mean_pooled(x: Float[Tensor, "batch kv_heads tokens d"], kv_heads: int) -> Tensor:
    """Each head replaced by the mean of its group of neighbours, of which ``kv_heads`` are made; the shape stays."""
    batch, heads, tokens, d = x.shape
    groups = x.reshape(batch, kv_heads, heads // kv_heads, tokens, d)
    return groups.mean(dim=2, keepdim=True).expand_as(groups).reshape(x.shape)


def through_int8(x: Tensor) -> Tensor:
    """The tensor rounded to 8 bits along its last axis and back, in its own dtype; zeros stay zeros."""
    accurate = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = accurate.abs().amax(dim=-1, keepdim=True) / INT8_STEPS
    steps = (accurate / scale.clamp(min=torch.finfo(accurate.dtype).tiny)).round().to(torch.int8)
    return (steps * scale).to(x.dtype)
