"""The door and the rates, against slow references and on a clock of their own."""

from __future__ import annotations

import random

import pytest

from hosting.admission_queue import PATIENCE, AdmissionQueue
from hosting.rates import MINUTE, Rates


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def door(most: int = 2, idle: float = 100, room: bool = True) -> tuple[AdmissionQueue, Clock]:
    clock = Clock()
    return AdmissionQueue(most, idle, lambda: room, clock), clock


def test_who_comes_after_the_last_place_waits_in_order():
    held, _ = door()
    assert [held.ask(who) for who in "abcde"] == [None, None, 0, 1, 2]
    assert (held.inside, held.waiting) == (2, 3)
    held.leave("a")
    assert held.ask("d") == 1  # not before c, whose turn it is
    assert held.ask("c") is None
    assert [held.ask(who) for who in "de"] == [0, 1]


def test_who_waits_and_goes_away_is_forgotten():
    held, clock = door(most=1)
    assert [held.ask(who) for who in "abc"] == [None, 0, 1]
    clock.now = PATIENCE + 1
    assert held.ask("c") == 0


def test_a_place_that_is_not_used_goes_to_who_waits():
    held, clock = door(most=1, idle=100)
    held.ask("a")
    clock.now = 99
    assert held.ask("b") == 0
    clock.now = 101
    assert held.ask("b") is None
    assert held.ask("a") == 0


def test_nobody_is_let_in_without_memory_but_who_is_in_stays():
    room = [True]
    held = AdmissionQueue(5, 100, lambda: room[0], Clock())
    assert held.ask("a") is None
    room[0] = False
    assert held.ask("a") is None
    assert held.ask("b") == 0
    room[0] = True
    assert held.ask("b") is None


def test_so_many_a_minute_and_then_the_seconds_to_wait():
    clock = Clock()
    rates = Rates(3, clock)
    assert [rates.ask("a") for _ in range(4)] == [0, 0, 0, pytest.approx(MINUTE / 3)]
    assert rates.ask("b") == 0  # another's minute
    clock.now = MINUTE / 3
    assert [rates.ask("a"), rates.ask("a")] == [0, pytest.approx(MINUTE / 3)]


def test_no_more_than_two_minutes_worth_in_any_minute():
    clock, draws = Clock(), random.Random(0)
    rates, granted = Rates(20, clock), list[float]()
    for _ in range(2000):
        clock.now += draws.expovariate(1.0)
        if not rates.ask("a"):
            granted.append(clock.now)
    busiest = max(sum(start <= one < start + MINUTE for one in granted) for start in granted)
    assert 20 <= busiest <= 40  # a full bucket, and what flows in meanwhile
    assert len(granted) / clock.now * MINUTE == pytest.approx(20, rel=0.05)


def test_many_strangers_are_not_remembered_for_ever(monkeypatch):
    monkeypatch.setattr("hosting.rates.MOST_KNOWN", 100)
    clock = Clock()
    rates = Rates(60, clock)
    for who in range(1000):
        clock.now += 2
        rates.ask(str(who))
    assert len(rates._left) <= 101
