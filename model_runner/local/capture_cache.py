"""A model's captures by request, within the budget of all that is kept."""

from __future__ import annotations

from collections.abc import Callable

from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture
from model_runner.request import CaptureRequest


class CaptureCache:
    """One larger than the budget is not kept at all. Safe to use from several threads.

    ``state`` tells the state of the model's weights: a capture is given back in the state that it was made in.
    """

    def __init__(self, kept: ByteBudgetCache, state: Callable[[], int] = lambda: 0) -> None:
        self._kept, self.state = kept, state

    @property
    def nbytes(self) -> int:
        return self._kept.nbytes_of(self)

    def get(self, request: CaptureRequest) -> Capture | None:
        return self._kept.get(self, (self.state(), request))

    def put(self, request: CaptureRequest, capture: Capture, state: int | None = None) -> None:
        """``state``: what it was when the forward began; None: what it is now."""
        self._kept.put(self, (self.state() if state is None else state, request), capture, parts=[capture])

    def clear(self) -> None:
        """Keep none any more: the model is given up."""
        self._kept.forget(self)
