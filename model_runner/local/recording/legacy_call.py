"""Attention by a model's own code: it can be recorded, but not edited."""

from __future__ import annotations

from torch import nn

from model_runner.errors import N_, EditNotPossible
from model_runner.local.cancellation import pause
from model_runner.local.recording.recorder import active_recorder

NO_EDITS = N_("its attention does not go through transformers' attention interface, where it could be changed")


def to_be_recorded(module: nn.Module) -> bool:
    """Whether the call that this module begins is recorded. Raises EditNotPossible if it should be edited.

    A decoder that uses the interface can be edited beside an encoder that does not.
    """
    pause()
    recording = active_recorder()
    if recording is not None and recording.edit is not None:
        own = recording.edit.layers.get(recording.names[id(module)])
        if own is None or own.changes or recording.edit.matrices or recording.edit.rotation is not None:
            raise EditNotPossible(reason=NO_EDITS)
    return recording is not None and recording.keeps
