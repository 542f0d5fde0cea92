"""Prefetching another head's map: who may request it, which requests are too late, and what is computed once."""

from __future__ import annotations

import threading

import pytest

from jobs.head_prefetch import HeadPrefetch
from jobs.tile_tickets import TileTickets
from model_runner.errors import NoSuchPlace


@pytest.fixture
def desk() -> TileTickets:
    return TileTickets()


def drawn(layer: int, head: int) -> bytes:
    if head > 3:
        raise NoSuchPlace(what="head", value=head, count=4)
    return bytes([layer, head])


def test_a_head_is_drawn_in_the_way_of_the_page_and_of_no_earlier_one(desk: TileTickets):
    quick = HeadPrefetch(desk)
    way = quick.show("weights", drawn)
    assert desk.answer(quick.ticket, f"head/{way}/2/3") == (200, b"\2\3")
    assert quick.show("weights", drawn) == way  # a page that shows another head in the same way sends nothing new
    later = quick.show("scores", drawn)
    assert desk.answer(quick.ticket, f"head/{way}/2/3") == (200, b"")
    assert desk.answer(quick.ticket, f"head/{later}/2/3") == (200, b"\2\3")


def test_a_head_that_there_is_not_is_nothing(desk: TileTickets):
    quick = HeadPrefetch(desk)
    assert desk.answer(quick.ticket, f"head/{quick.show('weights', drawn)}/2/4") == (200, b"")


@pytest.mark.parametrize("place", ["head/1/2", "head/1/2/3/4", "tile/1/2/3", "head/1/x/3", "head", ""])
def test_what_is_no_head_is_not_there(desk: TileTickets, place: str):
    quick = HeadPrefetch(desk)
    assert quick.show("weights", drawn) == 1
    assert desk.answer(quick.ticket, place)[0] == 404


def test_it_answers_its_own_session_as_long_as_that_is_there(desk: TileTickets):
    quick, other = HeadPrefetch(desk), HeadPrefetch(desk)
    way = quick.show("weights", drawn)
    assert quick.ticket != other.ticket
    assert desk.answer(other.ticket, f"head/{way}/2/3") == (200, b"")  # which has shown nothing
    quick.close()
    assert desk.answer(quick.ticket, f"head/{way}/2/3")[0] == 403


def test_what_two_ask_for_at_once_is_made_once(desk: TileTickets):
    quick, made, begun, go = HeadPrefetch(desk), [], threading.Event(), threading.Event()

    def make() -> str:
        made.append("L2H3")
        begun.set()
        assert go.wait(10)
        return made[-1]

    found: list[str] = []
    first = threading.Thread(target=lambda: found.append(quick.once("L2H3", make)))
    first.start()
    assert begun.wait(10)
    second = threading.Thread(target=lambda: found.append(quick.once("L2H3", make)))
    second.start()
    go.set()
    for one in (first, second):
        one.join(10)
    assert found == ["L2H3", "L2H3"]
    assert made == ["L2H3"]
    assert quick.once("L1H0", lambda: "another") == "another"
