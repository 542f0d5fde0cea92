"""One thread per model: requests queue, and a newer request of a session cancels its older one."""

from __future__ import annotations

import threading
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
    cancelled: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raises Cancelled once the job was cancelled; the work calls this often."""
        if self.cancelled.is_set():
            raise Cancelled()

    def cancel(self) -> None:
        self.cancelled.set()
        self.future.cancel()

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

    def submit(self, work: Callable[[Job[T]], T], session: str | None = None) -> Job[T]:
        """Queue the work and cancel the session's older job, if it is still under way. Raises Cancelled once closed."""
        job: Job[T] = Job()
        with self._lock:
            older = self._latest.pop(session, None) if session is not None else None
            if older is not None:
                older.cancel()
            try:
                job.future = self._pool.submit(work, job)
            except RuntimeError as error:  # closed: the model was given up for another
                raise Cancelled() from error
            if session is not None:
                self._latest[session] = job
        if session is not None:  # told of the future, not of the job: the job would never be freed with its result
            job.future.add_done_callback(lambda done: self._forget(session, done))
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

    def _forget(self, session: str, done: Future[Any]) -> None:
        with self._lock:
            if session in self._latest and self._latest[session].future is done:
                del self._latest[session]
