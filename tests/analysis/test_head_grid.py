"""Thumbnails and metrics of the grid equal loops over the full weights."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from analysis import head_grid as module
from analysis.head_grid import LARGEST_THUMBNAIL, HeadGrid, head_grid
from attention import own_metrics
from attention.metrics import METRICS, Rows
from attention.own_metrics import Offset, register_metric
from model_runner import CaptureRequest
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.mask_rule import FULL
from tests.analysis.made import as_float64, causal_noise, embedded, made_capture
from tests.model_runner.cases import case_of

TEXT = "The dog chased the squirrel because it"
LONG = 300  # tokens: more than a block of rows and than a thumbnail's side, and divisible by neither


def _pixels(matrix: np.ndarray, side: int) -> np.ndarray:
    """The largest value under each pixel, cell by cell."""
    n = len(matrix)
    edges = [i * n // side for i in range(side + 1)]
    return np.array(
        [[matrix[edges[i] : edges[i + 1], edges[j] : edges[j + 1]].max() for j in range(side)] for i in range(side)]
    )


@pytest.mark.parametrize("n_tokens, side", [(1, 1), (7, 7), (48, 48), (49, 48), (LONG, 48)])
def test_a_pixel_is_the_largest_weight_under_it(n_tokens: int, side: int) -> None:
    weights = causal_noise(n_tokens, layers=2, heads=3)
    grid = head_grid(made_capture(weights))
    assert grid.thumbnails.shape == (2, 3, side, side)
    for layer in range(2):
        for head in range(3):
            expected = 255 * _pixels(as_float64(weights[layer, head]), side)
            # A pixel is a whole number: half a step from the exact value, and a hair for a rounded tie.
            np.testing.assert_allclose(grid.thumbnails[layer, head], expected, atol=0.5 + 1e-9, rtol=0)


@pytest.mark.parametrize("n_tokens", [7, LONG])
def test_a_pixel_is_kept_where_any_cell_under_it_is_visible(n_tokens: int) -> None:
    weights = causal_noise(n_tokens)
    causal, full = head_grid(made_capture(weights)), head_grid(made_capture(weights, mask=FULL))
    side = min(n_tokens, LARGEST_THUMBNAIL)
    assert np.array_equal(causal.keep[0], _pixels(np.tri(n_tokens), side))
    assert full.keep.all()


@pytest.mark.parametrize("n_tokens", [1, 7, LONG])
def test_a_metric_is_the_mean_over_the_whole_matrix(n_tokens: int) -> None:
    weights = causal_noise(n_tokens, layers=2, heads=3)
    rng = random.Random(0)
    ids = [rng.randrange(12) for _ in range(n_tokens)]  # tokens repeat
    grid = head_grid(made_capture(weights, ids=ids))
    assert set(grid.metrics) == {metric.name for metric in METRICS}
    for metric in METRICS:
        for layer in range(2):
            values = metric.of(Rows(weights[layer], torch.arange(n_tokens), torch.tensor(ids)))
            # Sums of up to 300 float32 numbers below 300, taken in another order.
            torch.testing.assert_close(
                torch.from_numpy(grid.metrics[metric.name][layer]),
                values.nanmean(-1).float(),
                atol=1e-5,
                rtol=1e-5,
                equal_nan=True,
            )


def test_a_layer_without_weights_is_empty_and_undefined() -> None:
    weights = causal_noise(7, layers=3, heads=2)
    grid = head_grid(made_capture(weights, without={1}))
    assert grid.has_weights == (True, False, True)
    assert not grid.thumbnails[1].any()
    assert not grid.keep[1].any()
    for values in grid.metrics.values():
        assert np.isnan(values[1]).all()
    whole = head_grid(made_capture(weights))
    for layer in (0, 2):  # the others are what they are without it
        assert np.array_equal(grid.thumbnails[layer], whole.thumbnails[layer])
        for name, values in grid.metrics.items():
            np.testing.assert_array_equal(values[layer], whole.metrics[name][layer])


@pytest.mark.parametrize("name", ["llama", "mistral", "gpt-oss", "qwen3-next", "bert"])
def test_a_grid_can_be_made_of_any_family(name: str) -> None:
    capture = case_of(name).capture
    grid = head_grid(capture)
    side = min(len(capture.tokens), LARGEST_THUMBNAIL)
    for layer in range(capture.n_layers):
        assert grid.has_weights[layer] == capture.has_weights(layer)
        if not capture.has_weights(layer):
            continue
        for head in range(capture.n_heads):
            expected = 255 * _pixels(as_float64(capture.weights(layer, head)), side)
            np.testing.assert_allclose(grid.thumbnails[layer, head], expected, atol=0.5 + 1e-4, rtol=0)


def test_many_heads_have_smaller_thumbnails(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = causal_noise(40, layers=2, heads=2)
    monkeypatch.setattr(module, "THUMBNAIL_BYTES", 4 * 20 * 20)
    grid = head_grid(made_capture(weights))
    assert grid.thumbnails.shape == (2, 2, 20, 20)
    np.testing.assert_allclose(
        grid.thumbnails[0, 0], 255 * _pixels(as_float64(weights[0, 0]), 20), atol=0.5 + 1e-9, rtol=0
    )
    monkeypatch.setattr(module, "THUMBNAIL_BYTES", 1)
    assert head_grid(made_capture(weights)).thumbnails.shape == (2, 2, 8, 8)  # but never too small to be seen


def test_a_grid_prints_one_line() -> None:
    line = repr(head_grid(made_capture(causal_noise(5, layers=2, heads=3))))
    assert line == f"<HeadGrid: 2 layers, 3 heads; metrics: {', '.join(metric.name for metric in METRICS)}>"


def test_a_ranking_falls_and_ends_with_the_undefined() -> None:
    values = np.array([[0.2, np.nan, 0.9], [0.9, -1.0, np.nan]], np.float32)
    nothing = np.zeros((2, 3, 1, 1), np.uint8)
    grid = HeadGrid(nothing, nothing[:, 0], {"previous": values}, (True, True))
    assert grid.ranking("previous") == [2, 3, 0, 4, 1, 5]


def test_thumbnails_are_the_weights_that_transformers_gives_of_the_embedded_model() -> None:
    runner = embedded()
    capture = runner.capture(CaptureRequest(text=TEXT))
    grid = head_grid(capture)
    model = AutoModelForCausalLM.from_pretrained(DEFAULT_FOLDER, attn_implementation="eager", dtype=torch.float32)
    with torch.no_grad():
        eager = model(torch.tensor([[token.id for token in capture.tokens]]), output_attentions=True).attentions
    expected = 255 * as_float64(torch.cat(list(eager)))
    # Half a step of rounding, and 255 times the 1e-5 by which a capture's weights may differ from eager ones.
    np.testing.assert_allclose(grid.thumbnails, expected, atol=0.5 + 255e-5, rtol=0)


# -- the claim of the page: it finds the heads that the model's card names ---------------------------------------------

LENGTH = 40


def _named_on_the_card(kind: str) -> list[tuple[str, float]]:
    card = (DEFAULT_FOLDER / "README.md").read_text(encoding="utf-8")
    line = next(line for line in card.splitlines() if line.startswith(f"- {kind} heads:"))
    return [(head, float(score)) for head, score in re.findall(r"(L\d+H\d+) (\d\.\d\d)", line)]


@pytest.fixture(scope="module", params=[0, 1])
def repeated(request: pytest.FixtureRequest) -> HeadGrid:
    """The grid of random words that come twice, each word one token."""
    tokenizer = embedded().engine.tokenizer
    pieces = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    words = [piece[1:] for piece in pieces if re.fullmatch("Ġ[a-z]{3,}", piece)]
    half = random.Random(request.param).sample(words, LENGTH)
    capture = embedded().capture(CaptureRequest(text=" " + " ".join(half + half)))
    ids = [token.id for token in capture.tokens]
    assert ids[1 : LENGTH + 1] == ids[LENGTH + 1 :]  # after the special token, the same tokens twice
    return head_grid(capture)


@pytest.mark.parametrize("metric, kind", [("previous", "previous-token"), ("induction", "induction")])
def test_the_page_finds_the_heads_of_the_card_on_a_repeated_random_sequence(
    metric: str, kind: str, repeated: HeadGrid
) -> None:
    n_heads = repeated.thumbnails.shape[1]
    found = ["L{}H{}".format(*divmod(place, n_heads)) for place in repeated.ranking(metric)]
    named = _named_on_the_card(kind)
    # The best heads are within a few hundredths of each other, and another sequence than the card's may swap two.
    assert named[0][0] in found[:2]
    assert found[0] in [head for head, _ in named[:2]]
    for head, score in named[:2]:
        layer, place = map(int, re.findall(r"\d+", head))
        assert repeated.metrics[metric][layer, place] == pytest.approx(score, abs=0.1)


def test_an_induction_head_draws_its_diagonal_where_the_sequence_comes_again(repeated: HeadGrid) -> None:
    head, _ = _named_on_the_card("induction")[0]
    layer, place = map(int, re.findall(r"\d+", head))
    picture = repeated.thumbnails[layer, place].astype(float)
    side, n_tokens = len(picture), 2 * LENGTH + 1
    edges = [i * n_tokens // side for i in range(side + 1)]
    pixel = np.searchsorted(edges, np.arange(n_tokens), side="right") - 1
    second = range(LENGTH + 1, n_tokens)
    on_it = [picture[pixel[query], pixel[query - LENGTH + 1]] == picture[pixel[query]].max() for query in second]
    assert np.mean(on_it) > 0.8  # the brightest pixel of nearly every row


def test_a_metric_of_ones_own_is_the_mean_of_its_rows_over_all_blocks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(own_metrics, "_own", {})
    register_metric("offset 5", Offset(5))
    capture = embedded().capture("one two three four five six seven eight nine ten " * 8)
    found = head_grid(capture).metrics["offset 5"]
    for layer, head in ((0, 0), (3, 7), (7, 2)):
        weights = capture.weights(layer, head)
        expected = torch.diagonal(weights, offset=-5).mean()
        assert found[layer, head] == pytest.approx(float(expected), abs=1e-6)
