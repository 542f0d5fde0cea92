"""Waiting for an answer: what is shown meanwhile, and that leaving cancels the request."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from jobs import waiting
from jobs.waiting import await_job


class Job:
    """Done after so many looks, each of which takes a tenth of a second of the clock that it moves."""

    def __init__(self, looks: int, clock: list[float]) -> None:
        self.looks, self.clock, self.cancelled = looks, clock, False

    def wait(self, seconds: float) -> bool:
        if self.looks == 0:
            return True
        self.looks -= 1
        self.clock[0] += seconds
        return False

    def result(self) -> str:
        return "answer"

    def cancel(self) -> None:
        self.cancelled = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_it_is_said_at_once_what_goes_on(clock: list[float]):
    said: list[float] = []
    assert await_job(Job(3, clock), lambda: said.append(clock[0])) == "answer"
    assert said == pytest.approx([0.1, 0.2, 0.3])


def test_with_a_look_nothing_is_said_of_what_is_there_soon(clock: list[float]):
    said: list[float] = []
    looked: list[float] = []
    job = Job(6, clock)
    assert await_job(job, lambda: said.append(clock[0]), lambda: looked.append(clock[0])) == "answer"
    assert looked == pytest.approx([0.1, 0.2, 0.3])
    assert said == pytest.approx([0.4, 0.5, 0.6])
    assert job.cancelled  # which an answered one does not mind


@pytest.mark.parametrize("looks", [1, 9])
def test_who_leaves_cancels(clock: list[float], looks: int):
    def leave() -> None:
        raise KeyboardInterrupt

    job = Job(looks, clock)
    with pytest.raises(KeyboardInterrupt):
        await_job(job, leave, leave)
    assert job.cancelled
