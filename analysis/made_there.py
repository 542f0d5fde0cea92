"""What is made of a capture where its tensors are, when they are elsewhere: a few numbers come in place of them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from analysis.joined import Joined
from model_runner.capture import COMPRESSED, Capture, index
from model_runner.lazy_tensor import has_rows, is_away
from model_runner.request import CaptureRequest


@runtime_checkable
class FarMaker(Protocol):
    """A runner whose tensors are elsewhere."""

    def grid(self, request: CaptureRequest) -> dict[str, Any]:
        """What :func:`analysis.head_grid.written` made there."""
        ...

    def opening(self, request: CaptureRequest) -> tuple[int, int]:
        """The layer and head that :func:`analysis.opening.opening_head` found there."""
        ...

    def tile(self, request: CaptureRequest, layer: int, head: int, zoom: int, x: int, y: int) -> bytes:
        """What :func:`analysis.long_map.zipped` made there of one tile of a head's map."""
        ...

    def far(
        self, request: CaptureRequest, layer: int, head: int, least: int, count: int
    ) -> Sequence[tuple[int, int, float]]:
        """What :func:`analysis.far_looks.far_looks` found there: query, key and weight of each."""
        ...

    def block(self, request: CaptureRequest, layer: int, start: int, stop: int) -> dict[str, Any]:
        """What :func:`analysis.long_blocks.written` made there of some rows of a layer."""
        ...

    def strongest(
        self, request: CaptureRequest, layer: int, head: int, query: int, key: int | None
    ) -> tuple[int, int, float] | None:
        """What :func:`analysis.strongest_key.strongest_key` found there."""
        ...

    def cell(self, request: CaptureRequest, query: int, key: int) -> Float[Tensor, "layers heads"]:
        """The weights of :func:`analysis.cell_ranking.cell_ranking`, found there."""
        ...


def far_maker(capture: Capture) -> FarMaker | None:
    """Who makes it; None where the tensors are here, or the capture is one that is put together here."""
    asked, view = capture.asked, isinstance(capture, Joined) or capture.request.attention == COMPRESSED
    away = any(is_away(one.q) or is_away(one.k) for one in capture.records if one is not None)
    return asked if away and not view and isinstance(asked, FarMaker) else None


def head_is_here(capture: Capture, layer: int, head: int) -> bool:
    """Whether this head's queries and keys are: then nobody has to be asked what it does."""
    record = capture.record(layer)
    head = index("head", head, record.q.shape[0])
    key_head = head // record.group
    return has_rows(record.q, head, head + 1) and has_rows(record.k, key_head, key_head + 1)
