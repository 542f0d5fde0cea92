"""Changed caches, and how far each shifts the next token's distribution."""

from __future__ import annotations

import math

import pytest
import torch

from analysis.kv_drop import MOST_WINDOWS, CacheTrial, first_difference, kl_of_rows, trials, windows
from model_runner import CaptureRequest, load_runner
from model_runner.edits import Int8Cache, KeepLast
from model_runner.questions import NextLogits


def test_kl_is_the_sum_over_the_vocabulary():
    before, after = torch.tensor([2.0, 0.0, -1.0]), torch.tensor([0.5, 0.5, 3.0])
    p, q = ([math.exp(x) / sum(map(math.exp, row)) for x in row] for row in (before.tolist(), after.tolist()))
    expected = sum(one * math.log2(one / other) for one, other in zip(p, q, strict=True))
    assert kl_of_rows(before, after) == pytest.approx(expected, rel=1e-9)
    assert kl_of_rows(before, before) == 0.0


def test_a_token_that_was_impossible_adds_nothing():
    assert kl_of_rows(torch.tensor([0.0, -torch.inf]), torch.tensor([0.0, 0.0])) == pytest.approx(1.0)


@pytest.mark.parametrize("n_tokens", [1, 2, 17, MOST_WINDOWS])
def test_every_window_of_a_short_text_is_tried(n_tokens):
    assert windows(n_tokens) == list(range(1, n_tokens + 1))


@pytest.mark.parametrize("n_tokens", [MOST_WINDOWS + 1, 500, 2048, 100_000])
def test_of_a_longer_text_a_bounded_number_from_one_to_all(n_tokens):
    found = windows(n_tokens)
    assert found[0] == 1
    assert found[-1] == n_tokens
    assert len(found) <= MOST_WINDOWS
    assert found == sorted(set(found))


def test_trials_are_int8_and_every_window_without_and_with_sinks():
    assert [trial.edits for trial in trials(2, 4)] == [
        (Int8Cache(),),
        (KeepLast(1, 0),), (KeepLast(1, 4),),
        (KeepLast(2, 0),), (KeepLast(2, 4),),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "first, second, expected",
    [([], [], None), ([1, 2], [1, 2], None), ([1, 2], [1, 3], 1), ([1], [1, 2], 1), ([4], [5], 0)],
)
def test_texts_part_at_the_first_token_that_differs(first, second, expected):
    assert first_difference(first, second) == expected


def test_a_sink_keeps_the_embedded_models_next_token_where_the_window_alone_loses_it():
    runner = load_runner("default")
    text = "Monday, Tuesday, Wednesday, Thursday, Friday,"
    full = runner.capture(CaptureRequest(text)).logits(-1)

    def moved(trial: CacheTrial) -> float:
        return kl_of_rows(full, runner.submit(NextLogits(CaptureRequest(text, edits=trial.edits))).result())

    assert moved(CacheTrial(16, 0)) <= 1e-6  # everything is kept
    assert moved(CacheTrial(4, 0)) > 1
    assert moved(CacheTrial(4, 1)) < moved(CacheTrial(4, 0)) / 10
    assert moved(CacheTrial(None, 0)) < 0.01
