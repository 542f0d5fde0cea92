"""The interface of an object that receives the layers of a growing text, one forward at a time."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor

from model_runner.local.recording.head_pairs import HeadPairs
from model_runner.local.recording.indexer import NewlyChosen
from model_runner.local.recording.rotary_hooks import RotaryCall
from model_runner.local.recording.token_rows import TokenRows
from model_runner.record import LayerRecord


@runtime_checkable
class StepConsumer(Protocol):
    """Receives the layers' records over several forwards, see
    :class:`model_runner.local.recording.growing_buffers.GrowingBuffers`.
    """

    def begin(self, name: str, seen: LayerRecord, calls: list[RotaryCall]) -> None:
        """Receive a layer for the first time."""
        ...

    def more(
        self,
        name: str,
        shown: tuple[Tensor, Tensor, Tensor, Tensor],
        calls: list[RotaryCall],
        chosen: NewlyChosen | None,
        own: TokenRows,
    ) -> bool:
        """Receive a layer's queries, keys, values and output, with the batch axis, of which only the new rows are new.

        Also receives the keys that an indexer chose for them, and their parts of its bias, mask and sinks. Returns
        False if the layer is not known yet.
        """
        ...

    def join(self, name: str, given: Tensor, pairs: HeadPairs) -> None:
        """Receive what a layer that attends in parts made of them in this forward, with the batch axis."""
        ...

    def substituted(self, name: str) -> Tensor:
        """The layer's output for the new rows, with the batch axis, after substitutes have replaced softmax."""
        ...
