"""A question on its way to a server: whoever cancels it hangs up, and the server then ends it before the next layer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from model_runner.errors import Cancelled

T = TypeVar("T")


class RemoteJob(Generic[T]):
    """As :class:`model_runner.job.Job` says; ``ahead`` is what the server told last."""

    def __init__(self) -> None:
        self.ahead = 0
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._cancelled = threading.Event()
        self._found: Any = None
        self._error: BaseException | None = None
        self._hang_up: Callable[[], None] = lambda: None

    def wait(self, seconds: float) -> bool:
        """Whether the job ended within this time."""
        return self._ended.wait(seconds)

    def result(self) -> T:
        """The answer, once it is there. Raises RunnerError, and Cancelled where the job was cancelled before."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._found

    def cancel(self) -> None:
        """End it before the model's next layer."""
        with self._lock:
            if self._ended.is_set():
                return
            self._cancelled.set()
            self._hang_up()  # while it is locked: once another question has the connection, it is not hung up
        self.end(error=Cancelled())

    # -- for who asks ---------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises Cancelled once it was cancelled."""
        if self._cancelled.is_set():
            raise Cancelled()

    def pause(self, seconds: float) -> None:
        """Wait before another try. Raises Cancelled."""
        if self._cancelled.wait(seconds):
            raise Cancelled()

    def on_line(self, hang_up: Callable[[], None]) -> None:
        """How to hang up from now on, quickly; at once where it was cancelled."""
        with self._lock:
            self._hang_up = hang_up
            late = self._cancelled.is_set()
        if late:
            hang_up()

    def end(self, found: Any = None, error: BaseException | None = None) -> None:
        """What it came to; the first word counts."""
        with self._lock:
            if not self._ended.is_set():
                self._found, self._error = found, error
                self._ended.set()
