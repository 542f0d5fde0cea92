"""Tiles, long-range weights and small maps of long texts are computed at the server: same numbers, few bytes."""

from __future__ import annotations

import gc
import json
import threading
import time
import weakref
import zlib
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch

from analysis import long_blocks, long_map
from analysis.far_looks import far_looks
from analysis.joined import joined
from analysis.long_blocks import BlockRows, block, block_of, blocks_of, long_heads
from analysis.long_map import Spot, Tiling, unpacked, unzipped, zipped
from analysis.strongest_key import strongest_key
from jobs.head_tiles import TilesHere, TilesThere, head_tiles
from jobs.tile_server import TileServer
from jobs.tile_tickets import TileTickets
from model_runner import Capture
from model_runner.errors import NoSuchPlace, NoWeights, Unreadable, UserFacingError
from model_runner.lazy_tensor import is_away
from model_runner.local.runner import LocalRunner
from model_runner.remote import server_link
from model_runner.remote.runner import RemoteRunner
from model_runner.request import CaptureRequest
from model_runner.wire import to_bytes
from served import answering
from tests.model_runner.cases import FAMILY, runner_of
from tests.served.server import remote, serving
from tests.served.test_served import ask

WORDS = "the wolf saw the wolf and the cat " * 5  # 170 tokens
SIDE = 64  # pixels of a tile: three on a side
PACKED = 2 * 2 * (SIDE * SIDE + SIDE)  # bytes of a tile as a browser is given it
MASKS = ("llama", "gpt2", "bert", "mistral", "deepseek-v3.2")  # causal, both ways, a window, chosen keys


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the server and here, which are one process."""
    monkeypatch.setattr(long_map, "SIDE", SIDE)


@pytest.fixture(scope="module")
def model() -> LocalRunner:
    return runner_of(FAMILY["llama"])


@pytest.fixture(scope="module")
def url(model: LocalRunner) -> Iterator[str]:
    with serving({"llama": model}) as url:
        yield url


def every_spot(tokens: int) -> list[Spot]:
    tiling = Tiling(tokens)
    return [
        Spot(zoom, x, y)
        for zoom in range(tiling.last + 1)
        for x in range(tiling.tiles(zoom))
        for y in range(tiling.tiles(zoom))
    ]


def pair(own: LocalRunner, far: RemoteRunner, words: str = WORDS) -> tuple[Capture, Capture]:
    request = CaptureRequest(words)
    return own.capture(request), far.capture(request)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("family", MASKS)
def test_every_tile_is_the_same_bit_for_bit_and_no_tensor_is_sent(
    family: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_map, "DIRECT", 1)  # pixels of many cells are made of the tiles below
    own = runner_of(FAMILY[family], dtype=dtype)
    with serving({"llama": own}) as url:
        far = remote(url)
        here, there = pair(own, far)
        tiles, made = head_tiles(there), TilesHere(here)
        assert isinstance(tiles, TilesThere)
        spots = every_spot(len(here.tokens))
        assert {spot.zoom for spot in spots} == {0, 1, 2}
        for spot in spots:
            before = far.link.bytes_in
            found, expected = unpacked(tiles.packed(1, 1, spot)), unpacked(made.packed(1, 1, spot))
            assert far.link.bytes_in - before < PACKED + 2000
            for name, values in expected.items():
                np.testing.assert_array_equal(found[name], values)
        assert is_away(there.record(1).q)
        assert is_away(there.record(1).k)
        before = far.link.requests
        assert tiles.packed(1, 1, spots[0]) == tiles.packed(1, 1, spots[0])  # kept
        assert far.link.requests == before


def test_a_tile_of_cells_is_sent_once_and_one_without_any_in_hardly_a_byte(url: str, model: LocalRunner) -> None:
    far = remote(url)
    _, there = pair(model, far)
    sizes = {}
    for spot in (Spot(2, 0, 2), Spot(2, 2, 0)):
        before = far.link.bytes_in
        head_tiles(there).packed(1, 1, spot)
        sizes[spot] = far.link.bytes_in - before
    assert sizes[Spot(2, 0, 2)] < PACKED / 2 + 2000
    assert sizes[Spot(2, 2, 0)] < 2000


def test_a_zipped_tile_comes_back_as_it_was_packed(model: LocalRunner) -> None:
    capture = model.capture(CaptureRequest(WORDS))
    for spot in every_spot(len(capture.tokens)):
        tile = TilesHere(capture).tile(0, 1, spot)
        found, expected = unpacked(unzipped(zipped(tile))), unpacked(tile.packed())
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values)


def test_what_is_no_tile_is_refused(model: LocalRunner) -> None:
    tile = TilesHere(model.capture(CaptureRequest("the cat"))).tile(0, 0, Spot(0, 0, 0))
    for wrong in (
        b"",
        b"no",
        zipped(tile)[:-9],
        zlib.compress(tile.packed() + b"\0"),
        zlib.compress(tile.packed()[1:]),
    ):
        with pytest.raises(ValueError, match="no tile"):
            unzipped(wrong)


@pytest.mark.parametrize("family", MASKS)
def test_far_looks_and_the_key_looked_at_most_are_found_there(family: str) -> None:
    own = runner_of(FAMILY[family])
    with serving({"llama": own}) as url:
        far = remote(url)
        here, there = pair(own, far)
        before = far.link.bytes_in
        lse = long_map.denominators(here.record(1), 1)
        expected = far_looks(here.record(1), 1, lse, least=40, count=8)
        assert head_tiles(there).far(1, 1, 40, 8) == expected
        for query, key in ((len(here.tokens) - 1, None), (100, 3)):
            assert strongest_key(there, 1, 1, query, key) == strongest_key(here, 1, 1, query, key)
        assert far.link.bytes_in - before < 3000
        assert is_away(there.record(1).q)


def test_the_strongest_key_of_a_head_that_is_here_is_not_asked_for(url: str, model: LocalRunner) -> None:
    far = remote(url)
    here, there = pair(model, far)
    there.weights(1, 2)
    before = far.link.requests
    assert strongest_key(there, 1, 2, 5) == strongest_key(here, 1, 2, 5)
    assert far.link.requests == before
    strongest_key(there, 0, 2, 5)
    assert far.link.requests == before + 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("family", MASKS)
def test_a_block_of_every_head_is_the_same_bit_for_bit(family: str, dtype: torch.dtype) -> None:
    own = runner_of(FAMILY[family], dtype=dtype)
    with serving({"llama": own}) as url:
        far = remote(url)
        here, there = pair(own, far)
        before = far.link.bytes_in
        found = [block(there, rows) for rows in blocks_of(there)]
        sent = far.link.bytes_in - before
        assert len(found) == here.n_layers  # a layer a question
        for one in found:
            expected = block_of(here, one.rows)
            for part in fields(one):
                np.testing.assert_array_equal(getattr(one, part.name), getattr(expected, part.name))
        grids = long_heads(there, found), long_heads(here, [block(here, rows) for rows in blocks_of(here)])
        np.testing.assert_array_equal(grids[0].thumbnails, grids[1].thumbnails)
        for name, values in grids[1].measures.items():
            np.testing.assert_allclose(grids[0].measures[name], values, rtol=1e-12)
        np.testing.assert_allclose(grids[0].places, grids[1].places, rtol=1e-12)
        np.testing.assert_allclose(grids[0].entropy_at, grids[1].entropy_at, rtol=1e-12)
        numbers = 4 * 2 * long_blocks.BINS + long_blocks.PLACES
        pixels = long_blocks.THUMBNAIL**2
        assert sent < here.n_layers * (here.n_heads * (8 * numbers + pixels) + 2000)
        assert is_away(there.record(0).q)


def test_two_texts_that_are_joined_here_and_tensors_that_are_here_are_read_here() -> None:
    from model_runner import load_runner

    own = load_runner("translator", device="cpu")
    with serving({"llama": own}) as url:
        request = CaptureRequest("the wolf saw the cat", attention="cross")
        capture = joined(remote(url).capture(request))
        assert isinstance(head_tiles(capture), TilesHere)
        assert isinstance(head_tiles(own.capture(request)), TilesHere)


def test_the_page_s_browser_is_answered_and_refused_as_here(url: str, model: LocalRunner) -> None:
    desk = TileTickets()
    here, there = (TileServer(one, desk=desk) for one in pair(model, remote(url)))
    for one in (here, there):
        one.show(1)
    for path in ("tile/1/1/0/0/0", "tile/1/1/3/0/0", "tile/1/9/0/0/0", "tile/0/0/0/0/0", "far/1/1/30"):
        (status, body), (expected, made) = desk.answer(there.ticket, path), desk.answer(here.ticket, path)
        assert status == expected
        if path.startswith("far"):
            assert json.loads(body) == json.loads(made)
        elif made:
            np.testing.assert_array_equal(np.frombuffer(body, "<f2"), np.frombuffer(made, "<f2"))
    assert 0 < there.nbytes <= there.most


@pytest.mark.parametrize(
    "what, at, kind",
    [
        ("tile", (1, 1, 9, 0, 0), NoSuchPlace), ("tile", (1, 1, 0, 1, 0), NoSuchPlace),
        ("tile", (99, 1, 0, 0, 0), NoSuchPlace), ("tile", (1, 99, 0, 0, 0), NoSuchPlace),
        ("tile", (1, 1, 0, 0), Unreadable), ("far", (1, 99, 5, 5), NoSuchPlace), ("far", (1, 1), Unreadable),
        ("block", (0, 5, 5), NoSuchPlace), ("block", (0, 0, 10**6), NoSuchPlace), ("block", (99, 0, 5), NoSuchPlace),
        ("block", (0, 5), Unreadable), ("strongest", (1, 1, 10**6), NoSuchPlace),
        ("strongest", (1, 1, 3, 10**6), NoSuchPlace), ("strongest", (1, 1), Unreadable),
    ],
)  # fmt: skip  # a place a line would be long
def test_a_place_that_there_is_not_is_refused(
    url: str, model: LocalRunner, what: str, at: tuple[int, ...], kind: type[UserFacingError]
) -> None:
    request = to_bytes(CaptureRequest(WORDS))
    path = f"/v1/models/llama/{what}?" + "&".join(f"at={number}" for number in at)
    if kind is Unreadable:
        status, error = ask(url, request, path=path)
        assert (status, type(error)) == (422, Unreadable)
    else:
        with pytest.raises(kind):
            remote(url)._made_there(what, CaptureRequest(WORDS), *at)


def test_a_layer_without_weights_is_refused() -> None:
    own = runner_of(FAMILY["qwen3-next"])
    with serving({"llama": own}) as url:
        far, request = remote(url), CaptureRequest("the wolf saw the cat")
        none = next(layer for layer in range(own.info.n_layers) if not own.capture(request).has_weights(layer))
        with pytest.raises(NoWeights):
            far.tile(request, none, 0, 0, 0, 0)
        with pytest.raises(NoWeights):
            far.block(request, none, 0, 2)


def test_tiles_are_kept_at_the_server_and_go_with_their_capture(
    url: str, model: LocalRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = remote(url)
    here, _ = pair(model, far, WORDS + "once more")
    for spot in (Spot(0, 0, 0), Spot(1, 0, 0)):
        far.tile(here.request, 1, 1, spot.zoom, spot.x, spot.y)
    assert answering._TILES.of(here).nbytes > 0
    kept = weakref.ref(here)
    del here
    model.forget()
    gc.collect()
    assert kept() is None
    for number in range(6):
        capture = model.capture(CaptureRequest(f"the wolf saw {number} cats"))
        answering._TILES.of(capture)
    assert len(answering._TILES._held) <= 4


def test_a_tile_that_takes_longer_than_it_is_listened_to_is_waited_for(
    url: str, model: LocalRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server says that it works all the while."""
    asked = list[int]()

    def slow(*_: Any) -> bytes:
        asked.append(threading.get_ident())
        time.sleep(2.5)
        return b"made"

    monkeypatch.setattr(server_link, "SILENCE", 1.2)
    monkeypatch.setattr(answering, "zipped", slow)
    far = remote(url)
    assert far.tile(CaptureRequest(WORDS), 1, 1, 0, 0, 0) == b"made"
    assert len(asked) == 1


def test_rows_of_a_block_are_the_blocks_of_its_rows(model: LocalRunner) -> None:
    capture = model.capture(CaptureRequest(WORDS))
    whole = block_of(capture, BlockRows(1, 0, len(capture.tokens)))
    parts = [block_of(capture, rows) for rows in blocks_of(capture) if rows.layer == 1]
    assert len(parts) > 1
    np.testing.assert_array_equal(long_heads(capture, [whole]).thumbnails, long_heads(capture, parts).thumbnails)
    assert whole.placed == sum(one.placed for one in parts)
    np.testing.assert_allclose(whole.counts.sum(-1), sum(one.counts.sum(-1) for one in parts))
