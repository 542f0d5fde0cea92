"""Every tile of a head's map equals loops over its full matrix, at every zoom and at awkward lengths."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from analysis import long_map
from analysis.long_map import SIDE, Spot, Tile, Tiling, denominators, tile, unpacked
from attention import masks
from model_runner.errors import NoSuchPlace
from model_runner.mask_rule import CAUSAL, FULL, MaskRule
from model_runner.record import LayerRecord

HALF = 2.0**-11  # the largest relative error of rounding to float16; float32 sums add little to it
TINY = 2.0**-24  # the smallest float16 above 0


def record_of(n_tokens: int, mask: MaskRule = CAUSAL, *, sinks: bool = False) -> LayerRecord:
    """Four heads over two key/value heads; the first token draws much attention, as in trained models."""
    made = torch.Generator().manual_seed(n_tokens)
    q, k = torch.randn(4, n_tokens, 8, generator=made), torch.randn(2, n_tokens, 8, generator=made)
    q[..., 0], k[:, 0, 0] = 3.0, 6.0
    nothing = torch.zeros(n_tokens, 4, 8)
    return LayerRecord(
        q=q, k=k, v=torch.randn(2, n_tokens, 8, generator=made), output=nothing, scale=8**-0.5, softcap=None,
        sinks=torch.randn(4, generator=made) if sinks else None, mask=mask, window=None, rotation=None, eager=False,
    )  # fmt: skip


def full_matrix(record: LayerRecord, head: int) -> np.ndarray:
    """Softmax in float64, NaN where masked, without anything of ours but the record's fields."""
    q, k = record.q[head].double().numpy(), record.k[head // 2].double().numpy()
    n = len(q)
    queries, keys = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    places = (torch.tensor(0), torch.tensor(0), torch.tensor(queries), torch.tensor(keys))
    seen = record.mask.own(*places).expand(n, n).numpy()
    scores = np.where(seen, q @ k.T * record.scale, -np.inf)
    largest = scores.max(axis=1, keepdims=True)
    powers = np.exp(scores - largest)
    total = powers.sum(axis=1, keepdims=True)
    if record.sinks is not None:
        total += np.exp(record.sinks[head].double().numpy() - largest)
    return np.where(seen, powers / total, np.nan)


def by_loops(matrix: np.ndarray, spot: Spot) -> dict[str, np.ndarray]:
    """A tile pixel by pixel."""
    n, cells = len(matrix), Tiling(len(matrix)).cells(spot.zoom)
    found = {name: np.full((SIDE, SIDE), np.nan) for name in ("max", "mean")}
    found |= {name: np.full((SIDE, 1), np.nan) for name in ("first_max", "first_mean")}
    for row in range(SIDE):
        top = (spot.y * SIDE + row) * cells
        if top >= n:
            break
        for column in range(SIDE):
            left = (spot.x * SIDE + column) * cells
            if left >= n:
                break
            start = left if cells == 1 else max(1, left)  # the first token apart
            _summarise(matrix[top : top + cells, start : left + cells], found, "", row, column)
        _summarise(matrix[top : top + cells, :1], found, "first_", row, 0)
    return found


def _summarise(block: np.ndarray, found: dict[str, np.ndarray], name: str, row: int, column: int) -> None:
    values = [value for value in block.ravel() if not math.isnan(value)]
    if values:
        found[f"{name}max"][row, column], found[f"{name}mean"][row, column] = max(values), sum(values) / len(values)


def tiles_of(record: LayerRecord, head: int) -> Callable[[Spot], Tile]:
    lse = denominators(record, head)

    def made(spot: Spot) -> Tile:
        return tile(record, head, lse, spot, made)

    return made


def assert_same(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        got = found[name].astype(np.float64)
        assert np.array_equal(np.isnan(got), np.isnan(values)), name
        np.testing.assert_allclose(got, values, rtol=1.05 * HALF + 2e-5, atol=TINY, err_msg=name)


@pytest.mark.parametrize(
    "n_tokens, mask",
    [
        *((count, CAUSAL) for count in (1, 2, 256, 257, 600)),
        *((300, mask) for mask in (FULL, MaskRule(masks.And(masks.Causal(), masks.Recent(40, 1))))),
    ],
)
def test_every_tile_of_every_zoom_is_what_loops_make_of_the_full_matrix(n_tokens: int, mask: MaskRule) -> None:
    record = record_of(n_tokens, mask)
    matrix, made, tiling = full_matrix(record, 3), tiles_of(record, 3), Tiling(n_tokens)
    for zoom in range(tiling.last + 1):
        for x, y in np.ndindex(tiling.tiles(zoom), tiling.tiles(zoom)):
            spot = Spot(zoom, x, y)
            assert_same(unpacked(made(spot).packed()), by_loops(matrix, spot))


@pytest.mark.long
def test_four_thousand_tokens_by_single_tiles_of_every_zoom() -> None:
    record = record_of(4000, sinks=True)
    matrix, made = full_matrix(record, 1), tiles_of(record, 1)
    for spot in (Spot(0, 0, 0), Spot(1, 0, 1), Spot(3, 0, 7), Spot(4, 15, 15)):
        assert_same(unpacked(made(spot).packed()), by_loops(matrix, spot))


def test_tiles_made_of_the_four_below_are_those_made_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    record = record_of(1500)
    direct = tiles_of(record, 0)(Spot(0, 0, 0))
    monkeypatch.setattr(long_map, "DIRECT", 2)
    made = tiles_of(record, 0)(Spot(0, 0, 0))
    for found, wanted in ((made.pixels, direct.pixels), (made.first, direct.first)):
        torch.testing.assert_close(found.most, wanted.most, rtol=0, atol=0, equal_nan=True)
        torch.testing.assert_close(found.mean, wanted.mean, rtol=1e-5, atol=0, equal_nan=True)


def test_the_first_token_stands_apart_where_pixels_are_pooled_and_in_its_place_where_they_are_cells() -> None:
    record = record_of(300)
    made = tiles_of(record, 2)
    pooled, cells = (unpacked(made(Spot(zoom, 0, 0)).packed()) for zoom in (0, 1))
    assert np.nanmax(pooled["first_max"]) > 2 * np.nanmax(pooled["max"][2:, 0])
    np.testing.assert_array_equal(cells["first_max"][:, 0], cells["max"][:, 0])


def test_nothing_as_large_as_the_map_is_ever_made(monkeypatch: pytest.MonkeyPatch) -> None:
    record, largest = record_of(2000), 0
    scores = LayerRecord.scores

    def counted(self: LayerRecord, *places: slice) -> torch.Tensor:
        nonlocal largest
        found = scores(self, *places)
        largest = max(largest, found.numel())
        return found

    monkeypatch.setattr(LayerRecord, "scores", counted)
    tiles_of(record, 0)(Spot(0, 0, 0))
    assert largest <= long_map.ROWS * 2000


@pytest.mark.parametrize("tokens, last", [(1, 0), (256, 0), (257, 1), (512, 1), (513, 2), (8192, 5), (32768, 7)])
def test_the_last_zoom_is_the_first_at_which_a_pixel_is_a_cell(tokens: int, last: int) -> None:
    tiling = Tiling(tokens)
    assert (tiling.last, tiling.cells(last), tiling.tiles(0)) == (last, 1, 1)
    assert tiling.tiles(last) == math.ceil(tokens / SIDE)


@pytest.mark.parametrize("spot", [Spot(-1, 0, 0), Spot(2, 0, 0), Spot(1, 2, 0), Spot(1, 0, -1), Spot(0, 1, 0)])
def test_a_tile_that_there_is_not_is_refused(spot: Spot) -> None:
    with pytest.raises(NoSuchPlace):
        tiles_of(record_of(300), 0)(spot)
