"""Work that is done in small jobs on request, and the work of a session."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any

import pytest

from jobs import incremental_task as kv_pull
from jobs.incremental_task import IncrementalTask, unchanged
from jobs.session_jobs import SessionJobs
from model_runner.errors import Cancelled, EmptyText
from model_runner.local.worker import QueuedJob, Worker


@pytest.fixture
def worker():
    made = Worker("test")
    yield made
    made.close()


def numbers(worker: Worker, count: int, started: list[int]):
    def submit(index: int):
        if index >= count:
            return None
        started.append(index)
        return worker.submit(lambda _: index)

    return submit


def pulled(pull: IncrementalTask[Any], seconds: float = 5) -> list[Any]:
    until = time.monotonic() + seconds
    while pull.running and time.monotonic() < until:
        pull.pull()
    return pull.items


def test_nothing_runs_before_it_is_pulled(worker):
    started: list[int] = []
    pull = IncrementalTask(numbers(worker, 3, started), unchanged, running=True)
    assert started == []
    assert pulled(pull) == [0, 1, 2]
    assert not pull.running


def test_a_pull_that_was_not_started_does_nothing(worker):
    started: list[int] = []
    pull = IncrementalTask(numbers(worker, 3, started), unchanged, running=False)
    pull.pull()
    assert started == []
    pull.start()
    assert pulled(pull) == [0, 1, 2]


def test_two_runs_of_a_page_that_pull_at_once_take_every_job_once(worker):
    """The later one begins while the earlier still waits; each would take the job that both waited for."""
    session, asked = "one", list[int]()

    def submit(index: int):
        if index >= 40:
            return None
        asked.append(index)

        def work(job: QueuedJob[int]) -> int:
            time.sleep(0.01)
            job.check()  # a newer request of the session cancels it
            return index

        return worker.submit(work, session)

    pull = IncrementalTask(submit, unchanged, running=True)
    threads = [threading.Thread(target=pulled, args=(pull,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (pull.error, pull.items, asked) == (None, list(range(40)), list(range(40)))


def test_a_pull_returns_within_its_budget_and_the_next_one_finds_the_result(worker, monkeypatch):
    monkeypatch.setattr(kv_pull, "BUDGET", 0.05)
    go = threading.Event()
    pull = IncrementalTask(
        lambda index: worker.submit(lambda _: go.wait(10) and index) if index == 0 else None, unchanged, running=True
    )
    pull.pull()  # returns, though the job does not end
    assert pull.items == []
    go.set()
    assert pulled(pull) == [0]


def test_a_result_of_none_is_the_end(worker):
    pull = IncrementalTask(
        lambda index: worker.submit(lambda _: "item" if index < 2 else None), unchanged, running=True
    )
    assert pulled(pull) == ["item", "item"]


def test_items_are_what_is_read_from_results(worker):
    pull = IncrementalTask(numbers(worker, 3, []), lambda index, found: (index, found * 10), running=True)
    assert pulled(pull) == [(0, 0), (1, 10), (2, 20)]


class Model:
    """Something that a pull asks."""


@pytest.mark.parametrize("count", [0, 2])
def test_what_is_done_lets_go_of_what_it_asked(worker, count):
    submitting, reading = Model(), Model()
    held = [weakref.ref(submitting), weakref.ref(reading)]

    def submit(index: int, model: Model):
        return worker.submit(lambda _: index) if index < count else None

    pull = IncrementalTask(
        lambda index, model=submitting: submit(index, model), lambda _, found, model=reading: found, running=True
    )
    del submitting, reading
    assert all(one() is not None for one in held)
    assert pulled(pull) == list(range(count))
    assert [one() for one in held] == [None, None]
    pull.start()  # there is still no more
    assert pulled(pull) == list(range(count))


def test_what_was_stopped_still_has_what_it_asks(worker):
    model = Model()
    held = weakref.ref(model)
    pull = IncrementalTask(lambda index, model=model: None, unchanged, running=True)
    del model
    pull.stop()
    assert held() is not None


def test_an_error_ends_it_and_stays_to_be_shown(worker):
    def fail(_: QueuedJob[Any]) -> None:
        raise EmptyText()

    pull = IncrementalTask(
        lambda index: worker.submit((lambda _: index) if index == 0 else fail), unchanged, running=True
    )
    assert pulled(pull) == [0]
    assert isinstance(pull.error, EmptyText)


def test_a_worker_that_was_given_up_is_an_error_too(worker):
    pull = IncrementalTask(numbers(worker, 3, []), unchanged, running=True)
    worker.close()
    assert pulled(pull) == []
    assert isinstance(pull.error, Cancelled)


def test_a_pull_that_is_stopped_while_another_thread_waits_for_it_has_no_error(worker, monkeypatch):
    under_way, go = threading.Event(), threading.Event()

    def work(job: Any) -> int:
        under_way.set()
        go.wait(10)
        job.check()  # as a forward does before each layer
        return 0

    monkeypatch.setattr(kv_pull, "BUDGET", 10)  # it is still waiting when it is stopped
    pull = IncrementalTask(lambda index: worker.submit(work), unchanged, running=True)
    waiting = threading.Thread(target=pull.pull)
    waiting.start()
    assert under_way.wait(10)
    time.sleep(0.1)  # until the pull waits for what it has just asked
    pull.stop()
    go.set()
    waiting.join(10)
    assert (pull.running, pull.stopped, pull.error, pull.items) == (False, True, None, [])


def test_stop_cancels_the_job_under_way_and_going_on_does_what_is_left(worker):
    jobs: list[QueuedJob[Any]] = []

    def wait_until_cancelled(job: QueuedJob[Any]) -> str:
        for _ in range(200):
            job.check()
            time.sleep(0.01)
        return "never"

    def submit(index: int):
        if len(jobs) < 1:
            jobs.append(worker.submit(wait_until_cancelled))
            return jobs[0]
        return worker.submit(lambda _: index) if index < 2 else None

    pull = IncrementalTask(submit, unchanged, running=True)
    pull.pull()
    pull.stop()
    assert pull.stopped
    assert not pull.running
    assert jobs[0].cancelled.is_set()
    pull.start()
    assert pulled(pull) == [0, 1]


class Work:
    def __init__(self, name: str) -> None:
        self.name, self.closed = name, False

    def close(self) -> None:
        self.closed = True


def test_a_work_is_kept_for_its_key_and_closed_for_another():
    works = SessionJobs("me")
    first = works.get("race", 1, Work)
    assert works.get("race", 1, Work) is first
    assert first.name == "me race"
    second = works.get("race", 2, Work)
    assert second is not first
    assert (first.closed, second.closed) == (True, False)


def test_works_of_other_names_stay_until_all_are_closed():
    works = SessionJobs("me")
    race, film = works.get("race", 1, Work), works.get("film", 1, Work)
    works.drop("race")
    works.drop("race")
    assert (race.closed, film.closed) == (True, False)
    works.close()
    assert film.closed
    assert works.get("film", 1, Work) is not film
