"""Results computed where a capture's tensors are, if they are remote: a few numbers are transferred instead of the
tensors.
"""

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
    """A runner whose tensors are remote."""

    def grid(self, request: CaptureRequest) -> dict[str, Any]:
        """:func:`analysis.head_grid.written`, computed remotely."""
        ...

    def opening(self, request: CaptureRequest) -> tuple[int, int]:
        """The layer and head of :func:`analysis.opening.opening_head`, computed remotely."""
        ...

    def tile(self, request: CaptureRequest, layer: int, head: int, zoom: int, x: int, y: int) -> bytes:
        """:func:`analysis.long_map.zipped` of one tile of a head's map, computed remotely."""
        ...

    def far(
        self, request: CaptureRequest, layer: int, head: int, least: int, count: int
    ) -> Sequence[tuple[int, int, float]]:
        """:func:`analysis.far_looks.far_looks`, computed remotely: query, key and weight of each."""
        ...

    def block(self, request: CaptureRequest, layer: int, start: int, stop: int) -> dict[str, Any]:
        """:func:`analysis.long_blocks.written` of some rows of a layer, computed remotely."""
        ...

    def strongest(
        self, request: CaptureRequest, layer: int, head: int, query: int, key: int | None
    ) -> tuple[int, int, float] | None:
        """:func:`analysis.strongest_key.strongest_key`, computed remotely."""
        ...

    def cell(self, request: CaptureRequest, query: int, key: int) -> Float[Tensor, "layers heads"]:
        """The weights of :func:`analysis.cell_ranking.cell_ranking`, computed remotely."""
        ...


def far_maker(capture: Capture) -> FarMaker | None:
    """The remote runner; None if the tensors are local, or the capture was composed locally."""
    asked, view = capture.asked, isinstance(capture, Joined) or capture.request.attention == COMPRESSED
    away = any(is_away(one.q) or is_away(one.k) for one in capture.records if one is not None)
    return asked if away and not view and isinstance(asked, FarMaker) else None


def head_is_here(capture: Capture, layer: int, head: int) -> bool:
    """True if this head's queries and keys are local, so that no remote call is needed."""
    record = capture.record(layer)
    head = index("head", head, record.q.shape[0])
    key_head = head // record.group
    return has_rows(record.q, head, head + 1) and has_rows(record.k, key_head, key_head + 1)
