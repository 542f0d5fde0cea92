"""For a ticket, tiles and far looks of the layers shown are answered; for anybody else nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

from analysis.long_map import SIDE, Spot, unpacked
from jobs.map_desk import MapDesk
from jobs.open_map import OpenMap
from model_runner import Capture, CaptureRequest
from tests.analysis.made import embedded

TILE = 2 * (SIDE * SIDE + SIDE) * 2  # bytes


@pytest.fixture(scope="module")
def capture() -> Capture:
    return embedded().capture(CaptureRequest(text="The dog chased the squirrel because it was hungry. " * 30))


@pytest.fixture
def desk() -> MapDesk:
    return MapDesk()


@pytest.fixture
def opened(capture: Capture, desk: MapDesk) -> Iterator[OpenMap]:
    held = OpenMap(capture, desk=desk)
    held.show(3)
    yield held
    held.close()


def test_a_tile_holds_the_weights_of_the_head(capture: Capture, desk: MapDesk, opened: OpenMap) -> None:
    status, body = desk.answer(opened.ticket, "tile/3/5/1/0/1")
    assert (status, len(body)) == (200, TILE)
    rows = slice(SIDE, len(capture.tokens))
    wanted = capture.weights(3, 5, queries=rows, keys=slice(0, SIDE)).numpy()
    found = unpacked(body)["max"][: len(wanted)]
    np.testing.assert_allclose(found, wanted, rtol=6e-4, atol=6e-8)


def test_far_looks_are_told_as_json(capture: Capture, desk: MapDesk, opened: OpenMap) -> None:
    status, body = desk.answer(opened.ticket, "far/3/5/100")
    looks = json.loads(body)
    assert (status, len(looks)) == (200, 8)
    for look in looks:
        assert look["query"] - look["key"] >= 100
        weights = capture.weights(3, 5, queries=slice(look["query"], look["query"] + 1))[0]
        assert look["weight"] == pytest.approx(float(weights[look["key"]]), rel=1e-4)


@pytest.mark.parametrize("ticket", ["", "x", "a" * 43])
def test_without_a_valid_ticket_nothing_is_told(desk: MapDesk, opened: OpenMap, ticket: str) -> None:
    assert desk.answer(ticket, "tile/3/5/0/0/0") == (403, b"")


def test_a_ticket_ends_with_its_map_and_opens_no_other(capture: Capture, desk: MapDesk, opened: OpenMap) -> None:
    other = OpenMap(capture, desk=desk)
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
def test_what_there_is_not_is_refused(desk: MapDesk, opened: OpenMap, place: str) -> None:
    assert desk.answer(opened.ticket, place) == (404, b"")


def test_what_was_made_stays_within_its_bytes_and_is_made_once(capture: Capture, desk: MapDesk) -> None:
    opened = OpenMap(capture, 3 * 800_000, desk)  # room for three tiles as they are kept
    opened.show(3)
    spots = [(1, x, y) for x in range(2) for y in range(2)]
    for head in (0, 1):
        for zoom, x, y in spots:
            desk.answer(opened.ticket, f"tile/3/{head}/{zoom}/{x}/{y}")
            assert 0 < opened._made.nbytes <= opened.nbytes
    spot = Spot(1, 0, 0)
    assert opened.tile(3, 0, spot) is opened.tile(3, 0, spot)
