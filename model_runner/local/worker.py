"""One thread per model: requests queue, and a newer request of a session cancels its older one.

The work shows that it is alive in every pause between two layers. A worker that shows nothing for SILENCE seconds is
lost: whoever waits is told, nothing more is asked of it, and the model has to be loaded anew.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from model_runner.errors import Cancelled, ModelSilent
from model_runner.local.allocator import keep_freed_memory

T = TypeVar("T")

SILENCE = 300.0  # seconds without a pause: far more than one layer of the longest text takes
LOOK = 1.0  # seconds between two looks at a worker that somebody waits for
ASLEEP = 60.0  # seconds between two looks that somebody waits through: the machine was suspended, nobody is to blame


@dataclass(eq=False)
class QueuedJob(Generic[T]):
    """A piece of work on its way, as :class:`model_runner.job.Job` says; ``cancel`` ends it before the next layer."""

    future: Future[T] = field(default_factory=Future)
    before: Callable[[], int] = lambda: 0
    alive: Callable[[], None] = lambda: None  # the work goes on
    look: Callable[[], None] = lambda: None  # whether it does
    cancelled: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raises Cancelled once the job was cancelled; the work calls this often, and shows by it that it is alive."""
        self.alive()
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
        """Whether the job ended within this time; so does one whose worker is lost."""
        try:
            self.future.exception(timeout=seconds)
        except FutureTimeout:
            self.look()
            return self.future.done()
        except CancelledError:
            return True  # ended all the same; result() reports it
        return True

    def result(self) -> T:
        """What the work returned, or its error. Raises Cancelled if it was cancelled before it began, ModelSilent."""
        while not self.wait(LOOK):
            pass
        try:
            return self.future.result()
        except CancelledError:
            raise Cancelled() from None


class Worker:
    """Owns the one thread that touches a model."""

    def __init__(self, name: str) -> None:
        keep_freed_memory()
        self._name = name
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._lock = threading.RLock()  # cancelling runs the older job's done-callback in this thread
        self._latest: dict[str, QueuedJob[Any]] = {}
        self._numbers, self._unfinished = itertools.count(), dict[int, Future[Any]]()
        self._alive: float | None = None  # when the work last showed that it is; None: there is none
        self._looked = 0.0  # when somebody last looked
        self.lost = False
        self.seconds = 0.0  # of work, so far

    @property
    def queue(self) -> int:
        """How many jobs are not ended yet."""
        return len(self._unfinished)

    def submit(self, work: Callable[[QueuedJob[T]], T], session: str | None = None) -> QueuedJob[T]:
        """Queue the work and cancel the session's older job, if it is still under way.

        Raises Cancelled once closed, ModelSilent once lost.
        """
        number, unfinished = next(self._numbers), self._unfinished
        job: QueuedJob[T] = QueuedJob(
            before=lambda: sum(one < number for one in tuple(unfinished)), alive=self._show, look=self._look
        )
        with self._lock:
            if self.lost:
                raise self._silent()
            older = self._latest.pop(session, None) if session is not None else None
            if older is not None:
                older.cancel()
            unfinished[number] = job.future
            try:
                self._pool.submit(self._run, work, job)
            except RuntimeError as error:  # closed: the model was given up for another
                del unfinished[number]
                raise Cancelled() from error
            if session is not None:
                self._latest[session] = job
        job.future.add_done_callback(lambda _done: unfinished.pop(number, None))
        if session is not None:  # told of the future, not of the job: the job would never be freed with its result
            job.future.add_done_callback(lambda done: self._forget(session, done))
        return job

    def answered(self, found: T, session: str | None = None) -> QueuedJob[T]:
        """What needs no work, at once; the session's older job is cancelled all the same."""
        if session is not None:
            self.cancel(session)
        job: QueuedJob[T] = QueuedJob()
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
        self._pool.shutdown(wait=False)
        with self._lock:
            for future in tuple(self._unfinished.values()):
                future.cancel()  # one that runs goes on

    def _run(self, work: Callable[[QueuedJob[T]], T], job: QueuedJob[T]) -> None:
        if not job.future.set_running_or_notify_cancel():
            return
        began, future = time.perf_counter(), job.future
        self._show()
        try:
            found = work(job)
        except BaseException as error:  # noqa: BLE001  it is raised where the job is waited for
            self._end(partial(future.set_exception, error), began)
        else:
            self._end(partial(future.set_result, found), began)
        finally:
            del work, job, future  # a traceback that the future holds would hold them, and the future

    def _end(self, tell: Callable[[], None], began: float) -> None:
        self._alive = None
        self.seconds += time.perf_counter() - began
        with suppress(InvalidStateError):  # it was lost, and comes too late
            tell()

    def _show(self) -> None:
        self._alive = time.monotonic()

    def _look(self) -> None:
        """By whoever waits: has the work shown nothing for too long, all who wait are told."""
        now = time.monotonic()
        with self._lock:
            if self._alive is not None and now - self._looked > ASLEEP:
                self._alive = now
            self._looked = now
            if self.lost or self._alive is None or now - self._alive <= SILENCE:
                return
            self.lost, waiting = True, tuple(self._unfinished.values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for future in waiting:
            with suppress(InvalidStateError):
                future.set_exception(self._silent())

    def _silent(self) -> ModelSilent:
        return ModelSilent(name=self._name, minutes=max(1, round(SILENCE / 60)))

    def _forget(self, session: str, done: Future[Any]) -> None:
        with self._lock:
            if session in self._latest and self._latest[session].future is done:
                del self._latest[session]
