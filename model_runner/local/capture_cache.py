"""A model's captures by request, within the budget of all that is kept."""

from __future__ import annotations

from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture
from model_runner.request import CaptureRequest


class CaptureCache:
    """One larger than the budget is not kept at all. Safe to use from several threads."""

    def __init__(self, kept: ByteBudgetCache) -> None:
        self._kept = kept

    @property
    def nbytes(self) -> int:
        return self._kept.nbytes_of(self)

    def get(self, request: CaptureRequest) -> Capture | None:
        return self._kept.get(self, request)

    def put(self, request: CaptureRequest, capture: Capture) -> None:
        self._kept.put(self, request, capture, capture.nbytes)

    def clear(self) -> None:
        """Keep none any more: the model is given up."""
        self._kept.forget(self)
