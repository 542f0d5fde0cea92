"""With a ticket, tiles and long-range weights of the shown layers are served; without one, nothing is."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from analysis import long_map
from analysis.long_map import SIDE, Spot, unpacked
from jobs import head_tiles
from jobs.head_tiles import TilesHere
from jobs.tile_server import TileServer
from jobs.tile_tickets import TileTickets
from model_runner import Capture, CaptureRequest
from tests.analysis.made import embedded

TILE = 2 * (SIDE * SIDE + SIDE) * 2  # bytes


@pytest.fixture(scope="module")
def capture() -> Capture:
    return embedded().capture(CaptureRequest(text="The dog chased the squirrel because it was hungry. " * 30))


@pytest.fixture
def desk() -> TileTickets:
    return TileTickets()


@pytest.fixture
def opened(capture: Capture, desk: TileTickets) -> Iterator[TileServer]:
    held = TileServer(capture, desk=desk)
    held.show(3)
    yield held
    held.close()


def test_a_tile_holds_the_weights_of_the_head(capture: Capture, desk: TileTickets, opened: TileServer) -> None:
    status, body = desk.answer(opened.ticket, "tile/3/5/1/0/1")
    assert (status, len(body)) == (200, TILE)
    rows = slice(SIDE, len(capture.tokens))
    wanted = capture.weights(3, 5, queries=rows, keys=slice(0, SIDE)).numpy()
    found = unpacked(body)["max"][: len(wanted)]
    np.testing.assert_allclose(found, wanted, rtol=6e-4, atol=6e-8)


def test_far_looks_are_told_as_json(capture: Capture, desk: TileTickets, opened: TileServer) -> None:
    status, body = desk.answer(opened.ticket, "far/3/5/100")
    looks = json.loads(body)
    assert (status, len(looks)) == (200, 8)
    for look in looks:
        assert look["query"] - look["key"] >= 100
        weights = capture.weights(3, 5, queries=slice(look["query"], look["query"] + 1))[0]
        assert look["weight"] == pytest.approx(float(weights[look["key"]]), rel=1e-4)


@pytest.mark.parametrize("ticket", ["", "x", "a" * 43])
def test_without_a_valid_ticket_nothing_is_told(desk: TileTickets, opened: TileServer, ticket: str) -> None:
    assert desk.answer(ticket, "tile/3/5/0/0/0") == (403, b"")


def test_a_ticket_ends_with_its_map_and_opens_no_other(capture: Capture, desk: TileTickets, opened: TileServer) -> None:
    other = TileServer(capture, desk=desk)
    assert desk.answer(other.ticket, "tile/3/5/0/0/0")[0] == 404  # its page has shown no layer
    other.show(3)
    assert desk.answer(other.ticket, "tile/3/5/0/0/0")[0] == 200
    other.close()
    assert desk.answer(other.ticket, "tile/3/5/0/0/0")[0] == 403
    assert desk.answer(opened.ticket, "tile/3/5/0/0/0")[0] == 200
    assert other.ticket != opened.ticket
    assert len(opened.ticket) == 43


@pytest.mark.parametrize(
    "place",
    [
        "", "tile", "tile/3", "tile/3/5/0/0", "tile/3/5/0/0/0/0", "far/3/5", "other/3/5/0/0/0", "tile/4/5/0/0/0",
        "tile/3/8/0/0/0", "tile/3/5/2/0/0", "tile/3/5/0/1/0", "tile/3/5/1/0/2", "tile/3/5/-1/0/0", "tile/3/-1/0/0/0",
        "tile/3/5/0/0/x", "tile/3/5/0/0/٣", "tile/3/5/0/0/1e1", "tile/3/5/0/0/" + "9" * 5000, "tile/3/5/0/0/0/",
        "../tile/3/5/0/0/0",
    ],
)  # fmt: skip
def test_what_there_is_not_is_refused(desk: TileTickets, opened: TileServer, place: str) -> None:
    assert desk.answer(opened.ticket, place) == (404, b"")


ROOM = 8 * 3 * 800_000  # of which a quarter is for tiles of cells: about eight of them as they are kept


def test_what_was_made_stays_within_its_bytes_and_is_made_once(capture: Capture, desk: TileTickets) -> None:
    opened = TileServer(capture, ROOM, desk)
    opened.show(3)
    spots = [(1, x, y) for x in range(2) for y in range(2)]
    for head in (0, 1, 2, 3):
        for zoom, x, y in spots:
            desk.answer(opened.ticket, f"tile/3/{head}/{zoom}/{x}/{y}")
            assert 0 < opened.nbytes <= opened.most
    tiles, spot = TilesHere(capture, ROOM), Spot(1, 0, 0)
    assert tiles.tile(3, 0, spot) is tiles.tile(3, 0, spot)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Counter[Any]:
    """How often denominators and far looks were computed, and each tile; pixels of many cells take those below."""
    counts: Counter[Any] = Counter()

    def counted(name: str, of: Any) -> Any:
        def counting(*given: Any, **named: Any) -> Any:
            counts[given[3] if name == "tile" else name] += 1
            return of(*given, **named)

        return counting

    for name in ("denominators", "far_looks", "tile"):
        monkeypatch.setattr(head_tiles, name, counted(name, getattr(head_tiles, name)))
    monkeypatch.setattr(long_map, "DIRECT", 1)
    return counts


def test_an_overview_that_fills_the_room_leaves_what_takes_every_row_of_the_head(
    made: Counter[Any],
) -> None:
    text = "The dog chased the squirrel because it was hungry. " * 60
    capture = embedded().capture(CaptureRequest(text=text))
    opened = TilesHere(capture, 8 * 800_000)  # two tiles of cells, and five larger ones
    opened.far(3, 5, 100)
    assert opened.tile(3, 5, Spot(0, 0, 0)).nbytes < 800_000
    assert sum(spot.zoom == 2 for spot in made if isinstance(spot, Spot)) > 5  # more than there is room for
    opened.tile(3, 5, Spot(2, 0, 0))
    assert made[Spot(2, 0, 0)] == 2  # it had to go: made anew, of its own cells
    assert made["denominators"] == 1
    opened.far(3, 5, 100)
    assert made["far_looks"] == 1
    before = Counter(made)
    for x, y in ((0, 0), (0, 1), (1, 1)):
        opened.tile(3, 5, Spot(1, x, y))
    assert made == before  # those made of many others stay


def test_two_tiles_asked_for_at_once_wait_for_the_same_denominators(
    capture: Capture, made: Counter[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = head_tiles.denominators

    def slow(*given: Any) -> Any:
        time.sleep(0.3)
        return counting(*given)

    monkeypatch.setattr(head_tiles, "denominators", slow)
    opened = TilesHere(capture)
    both = [threading.Thread(target=opened.tile, args=(3, 5, Spot(1, 0, y))) for y in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert made["denominators"] == 1


def test_the_denominators_of_a_text_longer_than_the_room_are_kept_all_the_same(
    capture: Capture, made: Counter[Any]
) -> None:
    opened = TilesHere(capture, 100)
    for y in range(2):
        opened.tile(3, 5, Spot(1, 0, y))
    assert made["denominators"] == 1
    assert opened.nbytes <= opened.most
