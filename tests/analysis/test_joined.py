"""Two texts in a row show their rectangular capture, and no other cells."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch

from analysis.cell import cell
from analysis.examples import OF_MODEL
from analysis.head_grid import head_grid
from analysis.head_lines import head_lines
from analysis.head_map import Window, head_map
from analysis.joined import Joined, first_query, joined
from analysis.opening import opening_head, opening_query
from analysis.stories import OF_TRANSLATIONS, first_head, seen_in
from analysis.token_metric import token_metric
from analysis.units import word_units
from attention.metrics import METRICS
from model_runner import CaptureRequest, load_runner
from model_runner.capture import Capture
from model_runner.errors import EncoderSaysNothing

TEXT = "The dog chased the cat in the garden yesterday."


@functools.cache
def translated(text: str = TEXT) -> Capture:
    return load_runner("translator").capture(CaptureRequest(text, attention="cross"))


@functools.cache
def in_a_row(text: str = TEXT) -> Joined:
    return joined(translated(text))


def test_the_written_tokens_look_at_the_read_ones_and_nothing_else_is_seen():
    cross, whole = translated(), in_a_row()
    n_read = len(cross.keys)
    assert first_query(whole) == n_read
    assert [token.text for token in whole.tokens] == [token.text for token in (*cross.keys, *cross.tokens)]
    assert [whole.text[token.start : token.end] for token in whole.tokens[n_read:]] == [
        cross.text[token.start : token.end] for token in cross.tokens
    ]
    for layer in range(cross.n_layers):
        for head in range(cross.n_heads):
            weights = whole.weights(layer, head)
            torch.testing.assert_close(weights[n_read:, :n_read], cross.weights(layer, head), atol=1e-4, rtol=0)
            assert weights[:n_read].abs().max() == 0 == weights[:, n_read:].abs().max()
        assert whole.verify(layer) == cross.verify(layer)
    torch.testing.assert_close(whole.logits(n_read + 3), cross.logits(3))
    with pytest.raises(EncoderSaysNothing):
        whole.logits(n_read - 1)


def test_a_map_is_the_rectangle_of_the_two_texts_and_its_window_stays_inside():
    cross, whole = translated(), in_a_row()
    view, n_read = head_map(whole, 3, 1), len(cross.keys)
    np.testing.assert_allclose(view.values, cross.weights(3, 1), atol=1e-4)
    assert view.window == view.whole == Window(n_read, len(whole.tokens), 0, n_read)
    assert (view.total, view.inside) == (tuple(view.values.shape), (0, len(cross.tokens), 0, n_read))
    assert view.units_at(n_read + 2, 4) == (2, 4)
    assert view.units_at(2, 4) is None
    assert head_map(whole, 3, 1, window=Window(0, 999, 2, 999)).window == Window(n_read, len(whole.tokens), 2, n_read)
    part = head_map(whole, 3, 1, window=Window(n_read + 1, n_read + 3, 2, 5))
    np.testing.assert_allclose(part.values, cross.weights(3, 1)[1:3, 2:5], atol=1e-4)
    assert part.inside == (1, 3, 2, 5)


def test_lines_go_from_the_written_to_the_read():
    cross, whole = translated(), in_a_row()
    lines = head_lines(whole, [(3, 1)])
    assert lines.labels == tuple(token.text for token in cross.tokens)
    assert lines.key_labels == tuple(token.text for token in cross.keys)
    np.testing.assert_allclose(lines.weights[0], cross.weights(3, 1), atol=1e-4)
    assert lines.looks_most_at(7) == len(cross.keys) + int(cross.weights(3, 1)[:, 7].argmax())
    assert not lines.holds(7)
    assert not lines.holds_key(len(cross.keys))


def test_numbers_of_heads_are_means_over_the_written_tokens():
    cross, whole = translated(), in_a_row()
    grid = head_grid(whole)
    weights = torch.stack([cross.weights(2, head) for head in range(cross.n_heads)]).double()
    entropy = -(weights * torch.log2(weights.clamp_min(1e-300))).sum(-1).mean(-1)
    np.testing.assert_allclose(grid.metrics["entropy"][2], entropy, atol=1e-4)
    np.testing.assert_allclose(grid.metrics["first"][2], weights[..., 0].mean(-1), atol=1e-5)
    for metric in METRICS:
        assert bool(np.isnan(grid.metrics[metric.name]).all()) == (not metric.across)
    by_token = token_metric(whole, 2, 0, next(metric for metric in METRICS if metric.name == "first"))
    assert np.isnan(by_token[: len(cross.keys)]).all()
    np.testing.assert_allclose(by_token[len(cross.keys) :], cross.weights(2, 0)[:, 0], atol=1e-5)


def test_a_thumbnail_is_the_rectangle_stretched_to_a_square():
    cross, whole = translated(), in_a_row()
    rows, columns = len(cross.tokens), len(cross.keys)
    side = max(rows, columns)
    expected = (cross.weights(3, 1) * 255).round()[np.arange(side) * rows // side][:, np.arange(side) * columns // side]
    thumbnail = head_grid(whole).thumbnails[3, 1]
    assert thumbnail.shape == (side, side)
    assert np.abs(thumbnail.astype(int) - expected.numpy()).max() <= 1


def test_words_of_both_texts_stay_apart():
    units = word_units(in_a_row())
    assert all(unit.stop <= len(translated().keys) or unit.start >= len(translated().keys) for unit in units)


@pytest.mark.parametrize("attention", ["encoder", "decoder", "cross"])
def test_a_cells_steps_lead_to_its_score_with_the_bias_of_the_distance(attention):
    capture = load_runner("translator").capture(CaptureRequest(TEXT, attention=attention))
    found = cell(joined(capture) if attention == "cross" else capture, 1, 2, len(capture.tokens) - 1, 3)
    assert (found.bias is None) == (attention == "cross")
    if attention != "cross":
        assert found.score == pytest.approx(found.dot * found.scale + found.bias)
        assert found.score == pytest.approx(float(capture.scores(1, 2)[-1, 3]), abs=1e-4)
    assert found.difference < 1e-4


@pytest.mark.parametrize("story", OF_TRANSLATIONS, ids=lambda story: story.text)
def test_every_example_opens_where_the_word_that_comes_next_is_looked_at(story):
    assert story.text in [example.text for example in OF_MODEL["translator"]]
    capture = in_a_row(story.text)
    seen = seen_in(capture)
    assert seen is not None
    assert seen.weight >= 0.9
    assert (seen.layer, seen.head) == first_head(capture) == opening_head(capture)
    assert seen.query == opening_query(capture)
    pairs = {"garden": "花园", "boy": "男孩", "peach": "桃子", "屋顶": "·roof", "书": "·book", "鼓": "·drum"}
    assert capture.tokens[seen.query + 1].text == pairs[story.looked_at]


def test_what_is_read_or_written_alone_tells_no_story_of_the_other():
    for attention in ("encoder", "decoder"):
        assert seen_in(load_runner("translator").capture(CaptureRequest(TEXT, attention=attention))) is None
