"""A model as rows of layers: the number of heads in each, key/value sharing, and what edits change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.head_names import group_size
from model_runner.block_questions import Architecture
from model_runner.capture import Capture
from model_runner.edits import (
    Blocked,
    Edit,
    Masked,
    MeanHead,
    OfAttention,
    OneEdit,
    ScaledHead,
    SharpenedHead,
    SwappedHeads,
)
from model_runner.matrix_edit import ScaledSingulars
from model_runner.substitution import Substituted

EVERY = -1  # all layers, or all heads of one
NO_FFN = -1
Place = tuple[str, int, int]  # attention, layer, head


@dataclass(frozen=True)
class LayerMake:
    """A layer's kind: for each attention its heads and how many share a key/value head; its experts.

    An attention without weights is None. ``experts`` is 0 for a dense feed-forward network, ``NO_FFN`` for none.
    """

    attentions: tuple[tuple[int, int] | None, ...]
    experts: int


@dataclass(frozen=True)
class StackHeads:
    """One stack of layers, with the names of its attentions; empty for the only one of a single-stack model."""

    attentions: tuple[str, ...]
    layers: tuple[LayerMake, ...]


def layer_stacks(capture: Capture, architecture: Architecture | None) -> tuple[StackHeads, ...]:
    """The stacks of the captured model, an encoder before its decoder.

    ``architecture`` describes the feed-forward networks; without it they count as dense. O(layers).
    """
    if not capture.attentions:
        return (_stack("", {"": capture}, architecture),)
    held = {name: capture.attention(name) for name in capture.attentions}
    sides = {"encoder": ("encoder",), "decoder": ("decoder", "cross")}
    return tuple(
        _stack(stack, {name: held[name] for name in names if name in held}, architecture)
        for stack, names in sides.items()
        if any(name in held for name in names)
    )


def _stack(name: str, captures: dict[str, Capture], architecture: Architecture | None) -> StackHeads:
    count = max(capture.n_layers for capture in captures.values())
    experts = dict.fromkeys(range(count), 0)
    for block in () if architecture is None else architecture.blocks:
        if block.stack == name and block.layer < count:
            plain = any(part.role == "ffn" for part in block.parts) or not block.parts
            experts[block.layer] = block.n_experts or (0 if plain else NO_FFN)
    layers = [
        LayerMake(tuple(_heads(capture, layer) for capture in captures.values()), experts[layer])
        for layer in range(count)
    ]
    return StackHeads(tuple(captures), tuple(layers))


def _heads(capture: Capture, layer: int) -> tuple[int, int] | None:
    if layer >= capture.n_layers or not capture.has_weights(layer):
        return None
    return capture.record(layer).q.shape[0], group_size(capture, layer)


def changed_places(edits: Sequence[Edit], attentions: Sequence[str]) -> tuple[Place, ...]:
    """The attentions, layers and heads that these edits change, each once, for a model with these attentions.

    An edit of the cache or of all positions changes every layer.
    """
    found: list[Place] = []
    for edit in edits:
        inner, names = (edit.edit, [edit.attention]) if isinstance(edit, OfAttention) else (edit, attentions)
        found += [(name, layer, head) for name in names for layer, head in _places(inner)]
    return tuple(dict.fromkeys(found))


def _places(edit: OneEdit) -> Iterator[tuple[int, int]]:
    match edit:
        case ScaledHead(layer, head) | MeanHead(layer, head) | SharpenedHead(layer, head):
            yield layer, head
        case SwappedHeads(layer, first, second):
            yield from ((layer, first), (layer, second))
        case ScaledSingulars(layer):
            yield layer, EVERY
        case Masked() | Blocked() | Substituted():
            layers = (EVERY,) if edit.layers is None else edit.layers
            heads = (EVERY,) if edit.heads is None else edit.heads
            yield from ((layer, head) for layer in layers for head in heads)
        case _:
            yield EVERY, EVERY
