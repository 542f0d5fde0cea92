"""Work in small jobs that a page pulls while somebody looks: what was done stays, and nothing runs by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

from model_runner.errors import UserFacingError
from model_runner.job import Job

T = TypeVar("T")

BUDGET = 0.25  # seconds of waiting for jobs before what is there is shown
TICK = 0.3  # seconds between two looks


class IncrementalTask(Generic[T]):
    """``submit(i)`` starts job number i, ``read(i, …)`` makes an item of its result; either None: there is no more.

    Both are let go then, and with them the model they ask: what is done holds none in memory. One thread at a time
    pulls: a run of a page (Streamlit 1.67) begins while the one before it still waits for a job.
    """

    def __init__(
        self,
        submit: Callable[[int], Job[Any] | None],
        read: Callable[[int, Any], T | None] = lambda _, found: found,
        *,
        running: bool,
    ) -> None:
        self.items: list[T] = []
        self.running = running
        self.stopped = False  # before it was done
        self.looked_at = False  # what is new is shown before any work begins
        self.error: UserFacingError | None = None
        self._submit, self._read = submit, read
        self._job: Job[Any] | None = None
        self._pulling = Lock()

    def start(self) -> None:
        """From now on a pull does something."""
        self.running, self.stopped, self.error = True, False, None

    def stop(self) -> None:
        """End the job under way, and do nothing from now on."""
        self.stopped = self.running
        self.close()

    def close(self) -> None:
        """Let the worker go."""
        self.running = False
        if self._job is not None:
            self._job.cancel()
            self._job = None

    def pull(self) -> None:
        """A moment's worth of results, added to ``items``. What is told instead ends it, and stays as ``error``.

        Where another thread pulls already, nothing: the next look finds what that one brings.
        """
        if self._pulling.acquire(blocking=False):
            try:
                self._pull()
            finally:
                self._pulling.release()

    def _pull(self) -> None:
        until = time.monotonic() + BUDGET
        try:
            while self.running and time.monotonic() < until:
                job = self._job = self._job or self._submit(len(self.items))
                if job is not None and not job.wait(max(0.0, until - time.monotonic())):
                    return
                self._job = None
                self._take(job)
        except UserFacingError as error:
            if self.running:  # else another thread ended it meanwhile, and this is how its job says so
                self.error = self._explained(error)
            self.running, self._job = False, None

    def _explained(self, error: UserFacingError) -> UserFacingError:
        """The error, in words of what was being done."""
        return error

    def _take(self, job: Job[Any] | None) -> None:
        found = None if job is None else job.result()
        item = None if found is None else self._read(len(self.items), found)
        if item is None:
            self.running = False
            self._submit, self._read = _no_more, _no_more
        else:
            self.items.append(item)


def _no_more(*_: Any) -> None:
    return None
