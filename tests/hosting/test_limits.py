"""Limits on sessions and request rates, against slow references and with a fake clock."""

from __future__ import annotations

import random
import re

import pytest

from hosting.admission_queue import PATIENCE, AdmissionQueue, Visitor
from hosting.rates import MINUTE, Rates
from hosting.settings import Limits
from tests.browser import ROOT


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


def shared(most: int, share: int, idle: float = 100) -> tuple[AdmissionQueue, Clock]:
    clock = Clock()
    whole = "school".__eq__
    return AdmissionQueue(most, idle, lambda: True, clock, share=share, whole=whole), clock


def test_one_laptop_takes_its_share_and_others_do_not_wait_behind_it():
    """Twelve sockets of one address and six places."""
    held, clock = shared(6, share=3)
    laptop = Visitor("laptop")
    assert [held.ask(f"l{one}", laptop) for one in range(12)] == [None, None, None, *range(9)]
    assert held.ask("a", Visitor("home")) is None
    assert [held.ask(f"s{one}", Visitor("school")) for one in range(4)] == [None, None, 0, 1]  # six are in
    assert held.ask("l11", laptop) == 8  # it waits behind its own alone
    held.leave("a")
    assert held.ask("l3", laptop) == 0  # its share is taken whatever is free
    assert held.ask("s2", Visitor("school")) is None
    clock.now = 101  # of its own that it does not use, it may have another
    assert held.ask("l3", laptop) is None
    assert held.inside == 6


def test_who_teaches_waits_for_no_place():
    held, _ = shared(2, share=1)
    assert [held.ask(who, Visitor(who)) for who in "abc"] == [None, None, 0]
    assert held.ask("t", Visitor("a", teaches=True)) is None
    assert held.ask("c", Visitor("c")) == 0
    assert (held.inside, held.waiting) == (3, 1)


def test_a_page_that_is_loaded_again_has_its_place_for_a_minute():
    held, clock = shared(1, share=1)
    mine, other = Visitor("here", "firefox"), Visitor("there", "chrome")
    assert [held.ask("old", mine), held.ask("other", other)] == [None, 0]
    held.leave("old")
    assert held.ask("other", other) == 0  # who waited does not take it meanwhile
    assert held.ask("new", mine) is None
    assert held.ask("other", other) == 0
    held.leave("new")
    clock.now = 60 + 1
    assert held.ask("other", other) is None
    assert held.ask("newer", mine) == 0


def test_a_place_is_kept_once_and_only_for_who_was_in():
    held, _ = shared(2, share=2)
    mine = Visitor("here", "firefox")
    assert [held.ask("a", mine), held.ask("b", Visitor("there", "chrome"))] == [None, None]
    assert held.ask("w", mine) == 0
    held.leave("w")  # it only waited
    assert held.ask("w", mine) == 0
    held.leave("a")
    assert [held.ask("x", mine), held.ask("w", mine)] == [None, 0]


def test_who_has_gone_is_not_counted_as_waiting():
    held, clock = door(most=1)
    assert [held.ask(who) for who in "ab"] == [None, 0]
    clock.now = PATIENCE + 1
    assert held.waiting == 0


def test_who_loads_a_page_again_is_known_for_a_moment_and_a_teacher_too():
    clock = Clock()
    held = AdmissionQueue(5, 100, lambda: True, clock, keep=60)
    ada, ben = Visitor("1.1.1.1", "ada", teaches=True), Visitor("1.1.1.1", "ben")
    for who, visitor in (("a", ada), ("b", ben)):
        assert not held.knows(who, visitor)
        held.ask(who, visitor)
        assert held.knows(who, visitor)
    assert held.active == 2
    held.leave("a")
    held.leave("b")
    assert held.active == 0
    assert held.knows("a2", ada)
    assert held.knows("b2", ben)
    assert not held.knows("c", Visitor("1.1.1.1", "cem"))
    assert not held.knows("d", Visitor("1.1.1.1"))  # whose browser says nothing
    clock.now = 61
    assert not held.knows("a2", ada)


def test_who_does_nothing_for_too_long_is_in_and_not_active():
    held, clock = door(most=5, idle=100)
    held.ask("a")
    clock.now = 101
    assert (held.inside, held.active) == (1, 0)
    held.ask("a")
    assert held.active == 1


def test_the_nginx_of_the_deployment_holds_as_many_connections_as_the_server():
    """Each phone is two connections of nginx: with Debian's 768 a room ended at 381 phones."""
    conf = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    (connections,) = re.findall(r"worker_connections (\d+)", conf)
    (files,) = re.findall(r"worker_rlimit_nofile (\d+)", conf)
    assert 2 * Limits().connections <= int(connections) <= int(files)
