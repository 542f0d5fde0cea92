"""A question sent to a server: cancelling closes the connection, and the server ends it before the next layer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from model_runner.errors import Cancelled

T = TypeVar("T")


class RemoteJob(Generic[T]):
    """See :class:`model_runner.job.Job`; ``ahead`` is the last number that the server reported."""

    def __init__(self) -> None:
        self.ahead = 0
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._cancelled = threading.Event()
        self._found: Any = None
        self._error: BaseException | None = None
        self._hang_up: Callable[[], None] = lambda: None

    def wait(self, seconds: float) -> bool:
        """Wait, and return whether the job ended within this time."""
        return self._ended.wait(seconds)

    def result(self) -> T:
        """The answer, once it has arrived. Raises RunnerError, or Cancelled if the job was cancelled."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._found

    def cancel(self) -> None:
        """Cancel the job; the server ends it before the model's next layer."""
        with self._lock:
            if self._ended.is_set():
                return
            self._cancelled.set()
            self._hang_up()  # under the lock: once another question has the connection, it must not be closed
        self.end(error=Cancelled())

    # -- for who asks ---------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises Cancelled once the job was cancelled."""
        if self._cancelled.is_set():
            raise Cancelled()

    def pause(self, seconds: float) -> None:
        """Wait before a retry. Raises Cancelled."""
        if self._cancelled.wait(seconds):
            raise Cancelled()

    def on_line(self, hang_up: Callable[[], None]) -> None:
        """Set how to close the connection from now on; called at once if the job was cancelled."""
        with self._lock:
            self._hang_up = hang_up
            late = self._cancelled.is_set()
        if late:
            hang_up()

    def end(self, found: Any = None, error: BaseException | None = None) -> None:
        """Set the result or the error; only the first call counts."""
        with self._lock:
            if not self._ended.is_set():
                self._found, self._error = found, error
                self._ended.set()
