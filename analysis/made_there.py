"""What is made of a capture where its tensors are, when they are elsewhere: a few numbers come in place of them all."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from analysis.joined import Joined
from model_runner.capture import COMPRESSED, Capture
from model_runner.lazy_tensor import is_away
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

    def cell(self, request: CaptureRequest, query: int, key: int) -> Float[Tensor, "layers heads"]:
        """The weights of :func:`analysis.cell_ranking.cell_ranking`, found there."""
        ...


def far_maker(capture: Capture) -> FarMaker | None:
    """Who makes it; None where the tensors are here, or the capture is one that is put together here."""
    asked, view = capture.asked, isinstance(capture, Joined) or capture.request.attention == COMPRESSED
    away = any(is_away(one.q) or is_away(one.k) for one in capture.records if one is not None)
    return asked if away and not view and isinstance(asked, FarMaker) else None
