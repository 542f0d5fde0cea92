"""Work in small jobs that a page pulls while somebody looks: what was done stays, and nothing runs by itself."""

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

BUDGET = 0.25  # seconds of waiting for jobs before what is there is shown
TICK = 0.3  # seconds between two looks


@dataclass(frozen=True)
class _Begun(Generic[T]):
    """A job under way; ``item`` is made of its result, None: there is no more."""

    job: Job[object]
    item: Callable[[], T | None]


class IncrementalTask(Generic[T]):
    """``submit(i)`` starts job number i, ``read(i, …)`` makes an item of its result; either None: there is no more.

    Both are let go then, and with them the model they ask: what is done holds none in memory. One thread at a time
    pulls: a run of a page (Streamlit 1.67) begins while the one before it still waits for a job.
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
        self.looked_at = False  # what is new is shown before any work begins
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
        """From now on a pull does something."""
        self.running, self.stopped, self.error = True, False, None

    def stop(self) -> None:
        """End the job under way, and do nothing from now on."""
        self.stopped = self.running
        self.close()

    def close(self) -> None:
        """Let the worker go."""
        self.running = False
        if self._begun is not None:
            self._begun.job.cancel()
            self._begun = None

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
                begun = self._begun = self._begun or self._begin(len(self.items))
                if begun is not None and not begun.job.wait(max(0.0, until - time.monotonic())):
                    return
                self._begun = None
                self._take(begun)
        except UserFacingError as error:
            if self.running:  # else another thread ended it meanwhile, and this is how its job says so
                self.error = self._explained(error)
            self.running, self._begun = False, None

    def _explained(self, error: UserFacingError) -> UserFacingError:
        """The error, in words of what was being done."""
        return error

    def _take(self, begun: _Begun[T] | None) -> None:
        item = None if begun is None else begun.item()
        if item is None:
            self.running = False
            self._begin = _no_more
        else:
            self.items.append(item)


def unchanged(_index: int, found: T) -> T:
    """A job's result is the item."""
    return found


def _no_more(_index: int) -> None:
    return None
