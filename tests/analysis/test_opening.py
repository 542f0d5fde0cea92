"""A page opens a head that attends strongly to one token."""

from __future__ import annotations

from collections.abc import Collection

import pytest
import torch

from analysis.opening import opening_head, opening_query, opening_rule
from model_runner import CaptureRequest
from model_runner.errors import NoSuchPlace
from model_runner.mask_rule import FULL
from tests.analysis.made import causal_noise, embedded, made_capture

N = 6


def _peaks(places: dict[tuple[int, int], tuple[int, float]], n: int = N) -> torch.Tensor:
    """Two layers of two heads with even rows, but for the last row's weight on one key each: (key, weight)."""
    weights = torch.tril(torch.ones(2, 2, n, n, dtype=torch.float64))
    weights = weights / weights.sum(-1, keepdim=True)
    for (layer, head), (key, weight) in places.items():
        weights[layer, head, -1] = (1 - weight) / (n - 1)
        weights[layer, head, -1, key] = weight
    return weights


def _opening(weights: torch.Tensor, special: Collection[int] = (), without: Collection[int] = ()) -> tuple[int, int]:
    return opening_head(made_capture(weights, special=special, without=without))


def test_the_head_with_the_strongest_look_is_opened() -> None:
    assert _opening(_peaks({(0, 1): (2, 0.6), (1, 0): (3, 0.8), (1, 1): (1, 0.7)})) == (1, 0)


def test_the_first_of_two_equal_heads_is_opened() -> None:
    assert _opening(_peaks({(0, 1): (2, 0.75), (1, 0): (2, 0.75)})) == (0, 1)


def test_looks_at_the_query_the_token_before_and_special_tokens_do_not_count() -> None:
    weights = _peaks({(0, 0): (0, 0.99), (0, 1): (N - 2, 0.98), (1, 0): (N - 1, 0.97), (1, 1): (3, 0.4)})
    assert _opening(weights, special={0}) == (1, 1)
    assert _opening(weights) == (0, 0)  # where the first token is no special one, it counts like any other


def test_only_the_last_token_decides() -> None:
    weights = _peaks({(1, 1): (3, 0.5)})
    weights[0, 0, -2] = 0
    weights[0, 0, -2, 2] = 1.0
    assert _opening(weights) == (1, 1)


def test_a_hidden_word_decides_and_what_stands_beside_it_does_not_count() -> None:
    weights = torch.full((2, 2, N, N), 1 / N, dtype=torch.float64)
    weights[0, 0, -1] = torch.tensor([0.0, 0.9, 0.02, 0.02, 0.03, 0.03])  # the last token does not count
    for layer, head, key in ((0, 1, 1), (0, 0, 2), (1, 0, 3), (1, 1, 5)):
        row = [0.04] * N
        row[key] = 0.8 if key != 5 else 0.75
        row[0] += 1 - sum(row)
        weights[layer, head, 2] = torch.tensor(row)
    capture = made_capture(weights, special={0, 2}, hidden={2, 4}, mask=FULL)
    assert opening_query(capture) == 2
    assert opening_head(capture) == (1, 1)
    assert opening_query(made_capture(weights)) == N - 1
    assert opening_query(made_capture(weights, hidden={2})) == N - 1  # no encoder: its last token makes the next one


def test_where_every_token_is_special_previous_or_itself_all_count() -> None:
    few = _peaks({(0, 1): (2, 0.9), (1, 0): (0, 0.95)}, n=3)
    assert _opening(few, special={0}) == (1, 0)
    rules = [opening_rule(made_capture(few, special=special)) for special in ((), {0})]
    assert rules == ["far", "any"]  # the page says by which of them its head is the one
    assert _opening(torch.ones(2, 2, 1, 1, dtype=torch.float64)) == (0, 0)


def test_a_layer_without_weights_is_never_opened() -> None:
    assert _opening(_peaks({(0, 0): (2, 0.9), (1, 1): (2, 0.3)}), without={0}) == (1, 1)


def test_a_layer_or_a_head_that_was_chosen_is_kept() -> None:
    weights = _peaks({(0, 0): (2, 0.5), (0, 1): (2, 0.6), (1, 0): (3, 0.8), (1, 1): (1, 0.7)})
    capture = made_capture(weights)
    assert [opening_head(capture, layer) for layer in (0, 1, -2)] == [(0, 1), (1, 0), (0, 1)]
    assert [opening_head(capture, head=head) for head in (0, 1, -1)] == [(1, 0), (1, 1), (1, 1)]
    assert opening_head(made_capture(weights, without={0}), 0) == (0, 0)  # which the page then says
    for place in ({"layer": 2}, {"head": 2}):
        with pytest.raises(NoSuchPlace):
            opening_head(capture, **place)


def test_every_head_of_a_long_text_is_asked() -> None:
    weights = causal_noise(200, layers=2, heads=3)
    best = weights[:, :, -1, : 200 - 2].amax(-1)
    layer, head = divmod(int(best.argmax()), 3)
    assert opening_head(made_capture(weights)) == (layer, head)


def test_the_first_picture_of_the_app_shows_a_head_that_looks_back_at_a_word() -> None:
    capture = embedded().capture(CaptureRequest(text="The dog chased the squirrel because it"))
    row = capture.weights(*opening_head(capture))[-1]
    assert float(row[1:-2].max()) > 0.5  # neither the special token, nor "because", nor "it" itself
