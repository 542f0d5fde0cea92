"""Work in small jobs that a page advances while it is open: finished results are kept, and nothing runs by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

from model_runner.errors import UserFacingError
from model_runner.job import Job

T = TypeVar("T")
A = TypeVar("A")

BUDGET = 0.25  # seconds of waiting for jobs before the results so far are shown
TICK = 0.3  # seconds between two refreshes


@dataclass(frozen=True)
class _Begun(Generic[T]):
    """A running job; ``item`` is made of its result, or None if there are no more."""

    job: Job[object]
    item: Callable[[], T | None]


class IncrementalTask(Generic[T]):
    """``submit(i)`` starts job number i and ``read(i, …)`` turns its result into an item; either returns None at the
    end.

    Both functions are dropped then, and with them the model that they refer to, so that a finished task keeps none in
    memory. :meth:`pull` is mutually exclusive, since reruns of a page (Streamlit 1.67) may overlap.
    """

    def __init__(
        self,
        submit: Callable[[int], Job[A | None] | None],
        read: Callable[[int, A], T | None],
        *,
        running: bool,
    ) -> None:
        self.items: list[T] = []
        self.running = running
        self.stopped = False  # before it was done
        self.looked_at = False  # new results are shown before more work begins
        self.error: UserFacingError | None = None

        def begin(index: int) -> _Begun[T] | None:
            job = submit(index)
            return None if job is None else _Begun(job, lambda: item_of(index, job))

        def item_of(index: int, job: Job[A | None]) -> T | None:
            found = job.result()
            return None if found is None else read(index, found)

        self._begin: Callable[[int], _Begun[T] | None] = begin
        self._begun: _Begun[T] | None = None
        self._pulling = Lock()

    def start(self) -> None:
        """Let :meth:`pull` work from now on."""
        self.running, self.stopped, self.error = True, False, None

    def stop(self) -> None:
        """Cancel the running job, and do nothing from now on."""
        self.stopped = self.running
        self.close()

    def close(self) -> None:
        """Release the worker."""
        self.running = False
        if self._begun is not None:
            self._begun.job.cancel()
            self._begun = None

    def pull(self) -> None:
        """Add results to ``items`` for a short time. An error ends the task and is kept in ``error``.

        Does nothing while another thread pulls; the next refresh finds that thread's results.
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
                begun = self._begun = self._begun or self._begin(len(self.items))
                if begun is not None and not begun.job.wait(max(0.0, until - time.monotonic())):
                    return
                self._begun = None
                self._take(begun)
        except UserFacingError as error:
            if self.running:  # otherwise another thread has stopped it, which is why its job failed
                self.error = self._explained(error)
            self.running, self._begun = False, None

    def _explained(self, error: UserFacingError) -> UserFacingError:
        """The error, worded for the work that failed."""
        return error

    def _take(self, begun: _Begun[T] | None) -> None:
        item = None if begun is None else begun.item()
        if item is None:
            self.running = False
            self._begin = _no_more
        else:
            self.items.append(item)


def unchanged(_index: int, found: T) -> T:
    """Use a job's result as the item."""
    return found


def _no_more(_index: int) -> None:
    return None
