"""An attention by code of the model's own begins: it can be recorded, and not be changed."""

from __future__ import annotations

from model_runner.errors import N_, EditNotPossible
from model_runner.local.cancelling import pause
from model_runner.local.recording import recorded_now

NO_EDITS = N_("its attention does not go through transformers' attention interface, where it could be changed")


def to_be_recorded() -> bool:
    """Whether what begins now is to be recorded. Raises EditNotPossible where it was to be changed."""
    pause()
    recording = recorded_now()
    if recording is not None and recording.edit is not None:
        raise EditNotPossible(reason=NO_EDITS)
    return recording is not None and recording.keeps
