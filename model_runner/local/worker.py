"""One thread per model: requests are queued, and a newer request of a session cancels its older one.

The work signals that it is alive at every pause between two layers. A worker that gives no sign for SILENCE seconds is
lost: waiting callers get an error, nothing more is submitted to it, and the model has to be loaded anew. Its thread is
abandoned: if it wakes, it stops at its next pause, and no process waits for it to end.
"""

from __future__ import annotations

import atexit
import itertools
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from model_runner.errors import Cancelled, ModelSilent
from model_runner.local.allocator import keep_freed_memory

T = TypeVar("T")
Tasks = SimpleQueue[Callable[[], None] | None]  # None ends it

SILENCE = 300.0  # seconds without a pause: far longer than one layer of the longest text takes
LEAVING = 10.0  # seconds for which the end of the process waits for running work to reach its next pause
LOOK = 1.0  # seconds between two checks of a worker that somebody waits for
ASLEEP = 60.0  # seconds between two checks after which the machine must have been suspended, and nobody is to blame


@dataclass(eq=False)
class QueuedJob(Generic[T]):
    """A queued piece of work, see :class:`model_runner.job.Job`; ``cancel`` ends it before the next layer."""

    future: Future[T] = field(default_factory=Future)
    before: Callable[[], int] = lambda: 0
    alive: Callable[[], None] = lambda: None  # signals that the work goes on
    look: Callable[[], None] = lambda: None  # checks whether it does
    cancelled: threading.Event = field(default_factory=threading.Event)
    begun: bool = False  # whether the worker has started it

    def check(self) -> None:
        """Raises Cancelled once the job was cancelled. The work calls this often, which also shows that it is alive."""
        self.alive()
        if self.cancelled.is_set():
            raise Cancelled()

    def cancel(self) -> None:
        self.cancelled.set()
        self.future.cancel()

    @property
    def ahead(self) -> int:
        """How many jobs the worker has to finish first."""
        return self.before()

    def wait(self, seconds: float) -> bool:
        """Wait, and return whether the job ended within this time; a job whose worker is lost counts as ended."""
        try:
            self.future.exception(timeout=seconds)
        except FutureTimeout:
            self.look()
            return self.future.done()
        except CancelledError:
            return True  # it ended anyway; result() reports it
        return True

    def result(self) -> T:
        """What the work returned, or its error.

        Raises Cancelled if it was cancelled before it began, or ModelSilent.
        """
        while not self.wait(LOOK):
            pass
        try:
            return self.future.result()
        except CancelledError:
            raise Cancelled() from None


class Worker:
    """Owns the one thread that uses a model. After ``silence`` seconds without a pause, the worker is lost."""

    def __init__(self, name: str, *, silence: float = SILENCE) -> None:
        keep_freed_memory()
        self._name, self.silence = name, silence
        self._tasks: Tasks = SimpleQueue()
        # A daemon: the end of the process would wait for any other, and one that hangs has none.
        self._thread = threading.Thread(target=_serve, args=(self._tasks,), name=name, daemon=True)
        self._lock = threading.RLock()  # cancelling runs the older job's done-callback in this thread
        self._latest: dict[str, QueuedJob[Any]] = {}
        self._numbers, self._unfinished = itertools.count(), dict[int, Future[Any]]()
        self._running: threading.Event | None = None  # set to cancel the current work
        self._alive: float | None = None  # when the work last showed that it is alive; None: there is no work
        self._looked = 0.0  # when somebody last checked
        self._closed = False
        self.lost = False
        self.seconds = 0.0  # seconds worked so far
        weakref.finalize(self, self._tasks.put, None)  # the thread only holds the queue
        _WORKERS.add(self)

    @property
    def queue(self) -> int:
        """How many jobs have not ended yet."""
        return len(self._unfinished)

    def submit(self, work: Callable[[QueuedJob[T]], T], session: str | None = None) -> QueuedJob[T]:
        """Queue the work and cancel the session's older job, if it is still pending or running.

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
            if self._closed:  # the model was evicted
                raise Cancelled()
            unfinished[number] = job.future
            if self._thread.ident is None:
                self._thread.start()
            self._tasks.put(partial(self._run, work, job))
            if session is not None:
                self._latest[session] = job
        job.future.add_done_callback(lambda _done: unfinished.pop(number, None))
        if session is not None:  # attached to the future, not the job, which would never be freed with its result
            job.future.add_done_callback(lambda done: self._forget(session, done))
        return job

    def answered(self, found: T, session: str | None = None) -> QueuedJob[T]:
        """A finished job for something that needs no work; it still cancels the session's older job."""
        if session is not None:
            self.cancel(session)
        job: QueuedJob[T] = QueuedJob()
        job.future.set_result(found)
        return job

    def cancel(self, session: str) -> None:
        """Cancel the session's job."""
        with self._lock:
            latest = self._latest.pop(session, None)
            if latest is not None:
                latest.cancel()

    def close(self) -> None:
        """Cancel what is queued and let the thread end."""
        with self._lock:
            self._closed = True
            self._tasks.put(None)
            for future in tuple(self._unfinished.values()):
                future.cancel()  # a running one goes on

    def leave(self, seconds: float) -> None:
        """Close, end running work at its next pause, and wait this long for it, unless the thread is lost."""
        self.close()
        running = self._running
        if running is not None:
            running.set()
            self._thread.join(0.0 if self.lost else seconds)

    def _run(self, work: Callable[[QueuedJob[T]], T], job: QueuedJob[T]) -> None:
        with self._lock:
            if self.lost or not job.future.set_running_or_notify_cancel():
                return
            job.begun, self._running = True, job.cancelled
            self._show()
        began, future = time.perf_counter(), job.future
        try:
            found = work(job)
        except BaseException as error:  # noqa: BLE001  it is raised where the job is waited for
            self._end(partial(future.set_exception, error), began)
        else:
            self._end(partial(future.set_result, found), began)
        finally:
            del work, job, future  # a traceback that the future holds would hold them, and the future

    def _end(self, tell: Callable[[], None], began: float) -> None:
        self._alive = self._running = None
        self.seconds += time.perf_counter() - began
        with suppress(InvalidStateError):  # it was lost, and comes too late
            tell()

    def _show(self) -> None:
        self._alive = time.monotonic()

    def _look(self) -> None:
        """Called by waiting callers: if the work gave no sign for too long, end all pending jobs with an error."""
        now = time.monotonic()
        with self._lock:
            if self._alive is not None and now - self._looked > ASLEEP:
                self._alive = now
            self._looked = now
            if self.lost or self._alive is None or now - self._alive <= self.silence:
                return
            self.lost, waiting = True, tuple(self._unfinished.values())
            self._tasks.put(None)
            if self._running is not None:
                self._running.set()  # if the thread wakes, its work ends before it stores anything
        for future in waiting:
            with suppress(InvalidStateError):
                future.set_exception(self._silent())

    def _silent(self) -> ModelSilent:
        return ModelSilent(name=self._name, minutes=max(1, round(self.silence / 60)))

    def _forget(self, session: str, done: Future[Any]) -> None:
        with self._lock:
            if session in self._latest and self._latest[session].future is done:
                del self._latest[session]


_WORKERS: weakref.WeakSet[Worker] = weakref.WeakSet()


def _serve(tasks: Tasks) -> None:
    """Run a worker's tasks one after another, in its thread."""
    while (task := tasks.get()) is not None:
        task()
        del task  # it holds the worker and the question


@atexit.register
def _leave() -> None:
    """Wait for the workers at exit: torch must not be torn down under a thread that uses it."""
    for worker in tuple(_WORKERS):
        worker.leave(LEAVING)
