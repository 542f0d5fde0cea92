"""Combines the edits of a request to an encoder–decoder, each for one of its three attentions, for one forward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model_runner.edits import Documents, Edit, Int8Cache, KeepLast, Masked, OfAttention, OneEdit, edits_of
from model_runner.errors import N_, EditNotPossible
from model_runner.layer_edit import LayerEdit
from model_runner.local.recording.forward_edit import EditShape, ForwardEdit, forward_edit
from model_runner.rotation_edit import RotationEdit

WHICH = N_("an encoder–decoder has three kinds of attention, and this does not say which of them is meant")
NO_CACHE = N_("an encoder reads all that it is given at once, and keeps no cache of it")
TWO_TEXTS = N_("it counts positions of one text, but in cross-attention one text attends to another")
ROTATION = N_("the rotation of an encoder–decoder cannot be changed so far")


def encoder_decoder_edit(edits: Sequence[Edit], shapes: Mapping[str, EditShape]) -> ForwardEdit | None:
    """Combine the edits; None if there are none. ``shapes``: for each attention by name.

    Raises EditNotPossible, NoSuchPlace, EditsContradict.
    """
    if not edits:
        return None
    layers: dict[str, LayerEdit] = {}
    for attention, shape in shapes.items():
        own = edits_of(edits, attention)
        for edit in own:
            _check(attention, edit)
        together = forward_edit(own, shape, ())
        unchanged = {name: LayerEdit() for name in shape.attention.values()}
        layers |= unchanged if together is None else together.layers
    if not all(isinstance(edit, OfAttention) for edit in edits):
        raise EditNotPossible(reason=WHICH)
    return ForwardEdit(layers)


def _check(attention: str, edit: OneEdit) -> None:
    """Raises EditNotPossible for an edit that makes no sense in this attention."""
    if isinstance(edit, RotationEdit):
        raise EditNotPossible(reason=ROTATION)
    if attention == "encoder" and isinstance(edit, (KeepLast, Int8Cache)):
        raise EditNotPossible(reason=NO_CACHE)
    if attention == "cross" and isinstance(edit, (KeepLast, Documents, Masked)):
        raise EditNotPossible(reason=TWO_TEXTS)
