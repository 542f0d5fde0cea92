"""The cache counts what a session's work holds, until the work ends or the session is deleted."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest

from jobs.head_tiles import TilesHere
from jobs.session_jobs import SessionJobs
from jobs.tile_server import TileServer
from jobs.tile_tickets import TileTickets
from model_runner import CaptureRequest
from model_runner.byte_lru import ByteBudgetCache
from tests.analysis.made import embedded

ROOM = 2**27


class Film:
    """Work that its session finds again when its browser comes back."""

    resumable = True

    def __init__(self, size: int) -> None:
        self.parts, self.closed = (np.zeros(size, np.uint8),), False

    def close(self) -> None:
        self.closed = True


class Race(Film):
    resumable = False


@pytest.fixture
def kept() -> ByteBudgetCache:
    return ByteBudgetCache(ROOM)


def test_a_long_map_counts_what_was_made_of_it_and_no_more(kept: ByteBudgetCache):
    works, desk = SessionJobs("me"), TileTickets()
    capture = embedded().capture(CaptureRequest(text="The dog chased the squirrel because it was hungry. " * 30))
    grown = works.weighing("long_map", kept)
    opened = works.get("long_map", 1, lambda _name: TileServer(capture, ROOM // 8, desk, grown))
    opened.show(3)
    works.weigh("long_map", kept)
    assert kept.nbytes == 0  # nothing was made
    for head in range(3):
        for spot in ("0/0/0", "1/0/0", "1/1/1"):
            assert desk.answer(opened.ticket, f"tile/3/{head}/{spot}")[0] == 200
    tiles = opened._tiles
    assert isinstance(tiles, TilesHere)
    held = [[entry.value for entry in part._held.values()] for part in (tiles._rows, tiles._wide, tiles._close)]
    assert kept.nbytes == pytest.approx(len(pickle.dumps(held)), rel=0.05)
    works.drop("long_map")
    assert kept.nbytes == 0


def test_work_that_ends_counts_no_more(kept: ByteBudgetCache):
    works = SessionJobs("me")
    for name, kind in {"film": Film, "race": Race}.items():
        works.get(name, 1, lambda _name, kind=kind: kind(1000))
        works.weigh(name, kept)
    assert kept.nbytes == 2000
    works.get("race", 2, lambda _name: Race(1000))  # not weighed yet
    assert kept.nbytes == 1000
    works.weigh("race", kept)
    works.close()
    assert kept.nbytes == 1000  # the film, for a browser that only lost its connection


def test_what_a_forgotten_session_had_is_gone(kept: ByteBudgetCache):
    works = SessionJobs("me")
    works.get("film", 1, lambda _name: Film(1000))
    grown = works.weighing("film", kept)
    works.weigh("film", kept)
    works.close()
    del works
    gc.collect()
    assert kept.nbytes == 0
    grown()  # nobody's any more
    assert kept.nbytes == 0


def test_where_there_is_no_room_the_work_ends():
    kept, works = ByteBudgetCache(1500), SessionJobs("me")
    film = works.get("film", 1, lambda _name: Film(1000))
    works.weigh("film", kept)
    kept.put("drawn", 1, None, 800)
    assert (film.closed, kept.nbytes) == (True, 800)
    assert works.get("film", 1, lambda _name: Film(10)) is not film
