"""Results for every head from blocks of rows equal loops over the full matrices, however the rows are cut."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis import long_blocks
from analysis.long_blocks import PLACES, RECENT, block, blocks_of, long_heads, side_of
from model_runner import Capture, CaptureRequest
from model_runner.mask_rule import CAUSAL, FULL
from tests.analysis.made import as_float64, causal_noise, embedded, made_capture

NAN = math.nan


def noise(n_tokens: int, *, ahead: bool = False) -> tuple[Capture, np.ndarray]:
    """A capture with two layers and two heads, and its weights."""
    weights = causal_noise(n_tokens, layers=2, heads=2)
    if ahead:
        weights = (weights + weights.flip((-2, -1))) / 2  # rows still sum to 1
    return made_capture(weights, mask=FULL if ahead else CAUSAL), as_float64(weights)


def of_row(row: np.ndarray, query: int, ahead: bool) -> dict[str, float]:
    """One query's numbers, key by key."""
    if query == 0 and not ahead:
        return {"first": NAN, "recent": NAN, "entropy": 0.0, "distance": NAN}
    found = {"first": row[0], "recent": 0.0, "entropy": 0.0, "distance": 0.0}
    rest = 0.0
    for key, weight in enumerate(row):
        if weight > 0:
            found["entropy"] -= weight * math.log2(weight)
        if key == 0:
            continue
        rest += weight
        found["distance"] += weight * abs(query - key)
        if abs(query - key) < RECENT:
            found["recent"] += weight
    found["distance"] /= rest
    return found | ({"first": NAN, "recent": NAN} if query == 0 else {})


def parts_of(row: np.ndarray, sees: int) -> np.ndarray:
    """The shares of each part of what a query sees."""
    found = np.zeros(PLACES)
    for key in range(sees):
        found[key * PLACES // sees] += row[key]
    return found


@pytest.mark.parametrize("n_tokens, ahead", [(1, False), (2, False), (150, False), (150, True)])
def test_every_number_is_what_loops_say(n_tokens: int, ahead: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_blocks, "ROWS", 37)  # no divisor of anything here
    capture, weights = noise(n_tokens, ahead=ahead)
    found = long_heads(capture, [block(capture, rows) for rows in blocks_of(capture)])
    for layer, head in np.ndindex(2, 2):
        rows = [of_row(weights[layer, head, query], query, ahead) for query in range(n_tokens)]
        for name, values in found.measures.items():
            known = [row[name] for row in rows if not math.isnan(row[name])]
            wanted = sum(known) / len(known) if known else NAN
            assert values[layer, head] == pytest.approx(wanted, rel=1e-6, abs=1e-9, nan_ok=True), name
        sees = [n_tokens if ahead else query + 1 for query in range(n_tokens)]
        parts = [
            parts_of(weights[layer, head, query], sees[query]) for query in range(n_tokens) if sees[query] >= PLACES
        ]
        wanted_parts = np.mean(parts, axis=0) if parts else np.full(PLACES, NAN)
        np.testing.assert_allclose(found.places[layer, head], wanted_parts, rtol=1e-6, atol=1e-9)
        for bin_number, start in enumerate(found.positions):
            stop = [*found.positions[1:], n_tokens][bin_number]
            entropies = [row["entropy"] for row in rows[start:stop]]
            assert found.entropy_at[layer, head, bin_number] == pytest.approx(np.mean(entropies), rel=1e-6, abs=1e-9)


def test_a_thumbnail_shows_the_largest_weight_under_each_pixel_without_the_first_token() -> None:
    capture, weights = noise(150)
    found = long_heads(capture, [block(capture, rows) for rows in blocks_of(capture)])
    side = side_of(150)
    wanted = np.zeros((2, 2, side, side))
    pixel_of = [max(pixel for pixel in range(side) if pixel * 150 // side <= token) for token in range(150)]
    for layer, head, query, key in np.ndindex(2, 2, 150, 150):
        place = layer, head, pixel_of[query], pixel_of[key]
        if key:
            wanted[place] = max(wanted[place], weights[layer, head, query, key])
    np.testing.assert_array_equal(found.thumbnails, np.rint(wanted * 255))


def test_how_the_rows_are_cut_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = embedded().capture(CaptureRequest(text="The dog chased the squirrel because it was hungry. " * 20))
    usual = long_heads(capture, [block(capture, rows) for rows in blocks_of(capture)])
    monkeypatch.setattr(long_blocks, "ROWS", 50)
    other = long_heads(capture, [block(capture, rows) for rows in blocks_of(capture)])
    np.testing.assert_array_equal(usual.thumbnails, other.thumbnails)
    for name, values in usual.measures.items():
        np.testing.assert_allclose(values, other.measures[name], rtol=1e-5)
    np.testing.assert_allclose(usual.places, other.places, rtol=1e-4, atol=1e-6)


def test_a_block_never_holds_more_cells_than_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_blocks, "CELLS", 2 * 150 * 10)
    capture, _ = noise(150)
    sizes = [rows.stop - rows.start for rows in blocks_of(capture)]
    assert max(sizes) == 10
    assert sum(sizes) == 2 * 150


def test_what_is_not_there_yet_is_not_defined() -> None:
    capture, _ = noise(150)
    rows = blocks_of(capture)
    found = long_heads(capture, [block(capture, rows[0])])
    assert np.isfinite(found.measures["first"][0]).all()
    assert np.isnan(found.measures["first"][1]).all()
    assert not found.thumbnails[1].any()
