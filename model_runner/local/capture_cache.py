"""A model's captures by request, within the budget of the whole cache."""

from __future__ import annotations

from collections.abc import Callable

from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture
from model_runner.request import CaptureRequest


class CaptureCache:
    """A capture larger than the budget is not stored. Thread-safe.

    ``state`` returns the state of the model's weights: a capture is only returned in the state in which it was made.
    """

    def __init__(self, kept: ByteBudgetCache, state: Callable[[], int] = lambda: 0) -> None:
        self._kept, self.state = kept, state

    @property
    def nbytes(self) -> int:
        return self._kept.nbytes_of(self)

    def get(self, request: CaptureRequest) -> Capture | None:
        return self._kept.get(self, (self.state(), request))

    def put(self, request: CaptureRequest, capture: Capture, state: int | None = None) -> None:
        """``state``: the one at the start of the forward; None: the current one."""
        self._kept.put(self, (self.state() if state is None else state, request), capture, parts=[capture])

    def clear(self) -> None:
        """Drop all captures, because the model is evicted."""
        self._kept.forget(self)
