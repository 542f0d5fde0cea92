"""One thread per model: a queue, in which a session's newer request replaces its older one."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator

import pytest

from model_runner.errors import Cancelled, ModelSilent
from model_runner.local import worker as module
from model_runner.local.worker import QueuedJob, Worker

SOON = 10.0  # seconds after which a test that waits in vain gives up; nothing here takes more than milliseconds


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker("test")
    yield worker
    worker.close()


class Blocker:
    """Work that has begun and does not end until it is told to."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, job: QueuedJob[str]) -> str:
        self.begun.set()
        assert self.go.wait(SOON)
        job.check()
        return "blocker"


def _block(worker: Worker, session: str | None = None) -> tuple[Blocker, QueuedJob[str]]:
    blocker = Blocker()
    job = worker.submit(blocker, session)
    assert blocker.begun.wait(SOON)
    return blocker, job


def test_work_is_done_in_the_order_it_came_one_at_a_time_in_one_thread(worker: Worker) -> None:
    blocker, first = _block(worker)
    order: list[tuple[int, str]] = []
    jobs = [
        worker.submit(lambda _, i=i: order.append((i, threading.current_thread().name)), f"session {i}")
        for i in range(20)
    ]
    assert not order  # nothing runs beside the first
    blocker.go.set()
    for job in jobs:
        job.result()
    assert first.result() == "blocker"
    assert [i for i, _ in order] == list(range(20))
    assert len({name for _, name in order}) == 1
    assert order[0][1] != threading.current_thread().name


def test_a_job_knows_how_many_are_before_it_and_the_worker_how_long_it_worked(worker: Worker) -> None:
    blocker, running = _block(worker)
    queued = [worker.submit(lambda _, i=i: i, f"session {i}") for i in range(3)]
    assert [job.ahead for job in (running, *queued)] == [0, 1, 2, 3]
    queued[1].cancel()
    assert [queued[0].ahead, queued[2].ahead, worker.queue] == [1, 2, 3]
    assert worker.seconds == 0
    time.sleep(0.05)
    blocker.go.set()
    assert queued[2].result() == 2
    assert queued[2].wait(SOON)
    worker.submit(lambda _: None).result()  # what is told when a job ended was told of those before
    assert [queued[2].ahead, worker.queue <= 1] == [0, True]
    assert 0.05 <= worker.seconds < SOON


def test_a_result_and_an_error_come_to_whoever_asked(worker: Worker) -> None:
    def fail(_: QueuedJob[int]) -> int:
        raise KeyError("mine")

    good, bad, after = worker.submit(lambda _: 1), worker.submit(fail), worker.submit(lambda _: 3)
    assert good.result() == 1
    with pytest.raises(KeyError, match="mine"):
        bad.result()
    assert bad.wait(0.0)
    assert after.result() == 3  # the thread has survived


def test_a_newer_request_of_the_session_cancels_the_one_that_runs(worker: Worker) -> None:
    blocker, older = _block(worker, "me")
    newer = worker.submit(lambda _: "newer", "me")
    assert older.cancelled.is_set()
    blocker.go.set()
    with pytest.raises(Cancelled, match="cancelled because a newer request replaced it"):
        older.result()
    assert newer.result() == "newer"


def test_a_newer_request_of_the_session_cancels_the_one_that_queues_before_it_begins(worker: Worker) -> None:
    blocker, _ = _block(worker)
    begun: list[str] = []
    older = worker.submit(lambda _: begun.append("older"), "me")
    newer = worker.submit(lambda _: begun.append("newer"), "me")
    assert older.wait(0.0)
    with pytest.raises(Cancelled):
        older.result()
    blocker.go.set()
    newer.result()
    assert begun == ["newer"]


def test_other_sessions_and_those_without_one_are_not_cancelled(worker: Worker) -> None:
    blocker, running = _block(worker, "other")
    queued = [worker.submit(lambda _, name=name: name, session) for name, session in (("a", "third"), ("b", None))]
    worker.submit(lambda _: None, "me")
    worker.submit(lambda _: None, "me")
    worker.submit(lambda _: None)
    blocker.go.set()
    assert running.result() == "blocker"
    assert [job.result() for job in queued] == ["a", "b"]


def test_a_job_that_ended_is_not_cancelled_by_the_next(worker: Worker) -> None:
    first = worker.submit(lambda _: 1, "me")
    assert first.result() == 1
    worker.submit(lambda _: 2, "me").result()
    assert not first.cancelled.is_set()
    assert first.result() == 1


def test_of_many_requests_of_one_session_only_the_running_and_the_last_one_begin(worker: Worker) -> None:
    blocker, _ = _block(worker, "me")
    begun: list[int] = []
    jobs = [worker.submit(lambda _, i=i: begun.append(i), "me") for i in range(50)]
    blocker.go.set()
    jobs[-1].result()
    assert begun == [49]


def test_waiting_says_whether_the_job_ended(worker: Worker) -> None:
    blocker, job = _block(worker)
    assert not job.wait(0.01)
    blocker.go.set()
    assert job.wait(SOON)
    assert job.wait(0.0)


def test_whoever_waits_for_a_job_in_the_queue_is_told_that_it_was_cancelled(worker: Worker) -> None:
    blocker, _ = _block(worker)
    job = worker.submit(lambda _: "never", "me")
    heard: list[BaseException] = []

    def wait() -> None:
        try:
            job.result()
        except BaseException as error:  # noqa: BLE001  # whatever it is, the test looks at it
            heard.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    job.cancel()
    waiting.join(SOON)
    blocker.go.set()
    assert [type(error) for error in heard] == [Cancelled]


def test_closing_ends_what_runs_cancels_what_queues_and_refuses_what_comes(worker: Worker) -> None:
    blocker, running = _block(worker, "a")
    queued = worker.submit(lambda _: "never", "b")
    worker.close()
    blocker.go.set()
    assert running.result() == "blocker"
    with pytest.raises(Cancelled):
        queued.result()
    for session in ("b", None):
        with pytest.raises(Cancelled):
            worker.submit(lambda _: "never", session)


def test_sessions_that_are_done_are_forgotten(worker: Worker) -> None:
    for i in range(5):
        worker.submit(lambda _: None, f"session {i}").result()
    worker.submit(lambda _: None).result()  # callbacks of a job run before the next one begins
    assert not worker._latest


@pytest.mark.parametrize("session", [None, "one"])
def test_what_a_job_made_is_freed_with_the_job_and_not_only_when_python_looks_for_cycles(
    worker: Worker, session: str | None
) -> None:
    gc.disable()
    try:
        submitted = threading.Event()
        job = worker.submit(lambda _: submitted.wait(SOON) and Blocker(), session)
        submitted.set()  # it ends after whoever submitted it has turned away, as a forward does
        made = weakref.ref(job.result())
        worker.submit(lambda _: None).result()  # by now the thread holds nothing of the job before
        assert made() is not None
        del job
        assert made() is None
    finally:
        gc.enable()


@pytest.fixture
def impatient(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "silence", 0.3)
    monkeypatch.setattr(module, "LOOK", 0.05)


@pytest.mark.usefixtures("impatient")
def test_all_who_wait_for_a_worker_that_hangs_are_told_and_it_is_asked_nothing_more(worker: Worker) -> None:
    blocker, hangs = _block(worker)
    waiting = [worker.submit(lambda _: 1), worker.submit(lambda _: 2, "me")]
    began = time.monotonic()
    with pytest.raises(ModelSilent, match="The model test stopped answering"):
        waiting[0].result()
    assert 0.3 <= time.monotonic() - began < SOON / 2
    for job in (hangs, waiting[1]):
        assert job.wait(0.0)
        with pytest.raises(ModelSilent):
            job.result()
    assert worker.lost
    with pytest.raises(ModelSilent):
        worker.submit(lambda _: 3)
    assert worker.queue == 0
    assert hangs.cancelled.is_set()  # so it ends at its next pause
    blocker.go.set()  # what comes so late is nobody's
    worker._thread.join(SOON)
    assert not worker._thread.is_alive()  # and the thread ends with it, without the work that was queued
    with pytest.raises(ModelSilent):
        hangs.result()


@pytest.mark.usefixtures("impatient")
def test_work_that_pauses_now_and_then_may_take_as_long_as_it_likes(worker: Worker) -> None:
    def slow(job: QueuedJob[str]) -> str:
        for _ in range(12):
            time.sleep(0.1)
            job.check()
        return "slow"

    assert worker.submit(slow).result() == "slow"
    assert not worker.lost


@pytest.mark.usefixtures("impatient")
def test_a_machine_that_was_suspended_makes_no_worker_silent(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    blocker, job = _block(worker)
    assert not job.wait(0.05)
    own = time.monotonic
    monkeypatch.setattr(module.time, "monotonic", lambda: own() + 3600)
    assert not job.wait(0.05)
    assert not worker.lost
    blocker.go.set()
    assert job.result() == "blocker"


def test_a_worker_that_nobody_holds_ends_its_thread() -> None:
    worker = Worker("dropped")
    assert worker.submit(lambda _: 1).result() == 1
    thread = worker._thread
    del worker
    thread.join(SOON)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    "work, lost", [("lambda job: threading.Event().wait()", True), ("spin", False)], ids=["it hangs", "it works"]
)
def test_the_end_of_the_process_waits_for_no_thread_that_hangs(work: str, lost: bool) -> None:
    script = f"""
import threading, time
from model_runner.local import worker as module
from model_runner.local.worker import Worker
def spin(job):
    while True:
        time.sleep(0.01)
        job.check()
module.LOOK = 0.05
worker = Worker("test", silence=0.2)
job = worker.submit({work})
if {lost}:
    try:
        job.result()
    except Exception as error:
        print(type(error).__name__)
else:
    assert not job.wait(0.5)
print(worker.lost, flush=True)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == (["ModelSilent", "True"] if lost else ["False"])
    assert not done.stderr


def test_an_error_leaves_nothing_of_the_work_behind(worker: Worker) -> None:
    class Held:
        pass

    def fail(job: QueuedJob[None], held: Held) -> None:
        raise KeyError("mine")

    held = Held()
    seen = weakref.ref(held)
    job = worker.submit(lambda job, held=held: fail(job, held))
    with pytest.raises(KeyError):
        job.result()
    del job, held
    worker.submit(lambda _: None).result()
    gc.collect()
    assert seen() is None
