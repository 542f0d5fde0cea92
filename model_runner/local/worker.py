"""One thread per model: requests queue, and a newer request of a session cancels its older one."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from model_runner.errors import Cancelled
from model_runner.local.allocator import keep_freed_memory

T = TypeVar("T")


@dataclass(eq=False)
class Job(Generic[T]):
    """A piece of work on its way, as :class:`model_runner.job.Job` says; ``cancel`` ends it before the next layer."""

    future: Future[T] = field(init=False)
    before: Callable[[], int] = lambda: 0
    cancelled: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raises Cancelled once the job was cancelled; the work calls this often."""
        if self.cancelled.is_set():
            raise Cancelled()

    def cancel(self) -> None:
        self.cancelled.set()
        self.future.cancel()

    @property
    def ahead(self) -> int:
        """How many jobs the worker has to end first."""
        return self.before()

    def wait(self, seconds: float) -> bool:
        """Whether the job ended within this time."""
        try:
            self.future.exception(timeout=seconds)
        except FutureTimeout:
            return False
        except CancelledError:
            return True  # ended all the same; result() reports it
        return True

    def result(self) -> T:
        """What the work returned, or its error. Raises Cancelled if it was cancelled before it began."""
        try:
            return self.future.result()
        except CancelledError:
            raise Cancelled() from None


class Worker:
    """Owns the one thread that touches a model."""

    def __init__(self, name: str) -> None:
        keep_freed_memory()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._lock = threading.RLock()  # cancelling runs the older job's done-callback in this thread
        self._latest: dict[str, Job[Any]] = {}
        self._numbers, self._unfinished = itertools.count(), set[int]()
        self.seconds = 0.0  # of work, so far

    @property
    def queue(self) -> int:
        """How many jobs are not ended yet."""
        return len(self._unfinished)

    def submit(self, work: Callable[[Job[T]], T], session: str | None = None) -> Job[T]:
        """Queue the work and cancel the session's older job, if it is still under way. Raises Cancelled once closed."""
        number, unfinished = next(self._numbers), self._unfinished
        job: Job[T] = Job(before=lambda: sum(one < number for one in tuple(unfinished)))
        with self._lock:
            older = self._latest.pop(session, None) if session is not None else None
            if older is not None:
                older.cancel()
            try:
                unfinished.add(number)
                job.future = self._pool.submit(self._timed, work, job)
            except RuntimeError as error:  # closed: the model was given up for another
                unfinished.discard(number)
                raise Cancelled() from error
            if session is not None:
                self._latest[session] = job
        job.future.add_done_callback(lambda _done: unfinished.discard(number))
        if session is not None:  # told of the future, not of the job: the job would never be freed with its result
            job.future.add_done_callback(lambda done: self._forget(session, done))
        return job

    def answered(self, found: T, session: str | None = None) -> Job[T]:
        """What needs no work, at once; the session's older job is cancelled all the same."""
        if session is not None:
            self.cancel(session)
        job: Job[T] = Job()
        job.future = Future()
        job.future.set_result(found)
        return job

    def cancel(self, session: str) -> None:
        """Cancel what the session waits for."""
        with self._lock:
            latest = self._latest.pop(session, None)
            if latest is not None:
                latest.cancel()

    def close(self) -> None:
        """Cancel what is queued and let the thread end."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _timed(self, work: Callable[[Job[T]], T], job: Job[T]) -> T:
        began = time.perf_counter()
        try:
            return work(job)
        finally:
            self.seconds += time.perf_counter() - began

    def _forget(self, session: str, done: Future[Any]) -> None:
        with self._lock:
            if session in self._latest and self._latest[session].future is done:
                del self._latest[session]
