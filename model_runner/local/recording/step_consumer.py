"""What takes the layers of a text that grows, a forward at a time."""

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
    """Takes what layers show over several forwards; see
    :class:`model_runner.local.recording.growing_buffers.GrowingBuffers`.
    """

    def begin(self, name: str, seen: LayerRecord, calls: list[RotaryCall]) -> None:
        """A layer shows itself for the first time."""
        ...

    def more(
        self,
        name: str,
        shown: tuple[Tensor, Tensor, Tensor, Tensor],
        calls: list[RotaryCall],
        chosen: NewlyChosen | None,
        own: TokenRows,
    ) -> bool:
        """Queries, keys, values and output of a layer, batch axis included, where only the new rows are news, the keys
        that an indexer chose for them, and what they make of its bias, mask and sinks; False if the layer is not known
        yet.
        """
        ...

    def join(self, name: str, given: Tensor, pairs: HeadPairs) -> None:
        """What a layer that attends in parts has made of them in this forward, batch axis included."""
        ...

    def substituted(self, name: str) -> Tensor:
        """The layer's output of the new rows, batch axis included, once substitutes stand in the place of softmax."""
        ...
