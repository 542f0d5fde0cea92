"""Multiply-adds of attention, counted cell by cell."""

from __future__ import annotations

import pytest

from analysis.kv_work import attention_work
from model_runner import CaptureRequest
from tests.model_runner.cases import TEXT, shared_runner
from tests.model_runner.families import WINDOW
from tests.model_runner.tiny import D_HEAD, N_HEADS, N_LAYERS, byte_tokenizer

STEPS = 6
N = len(byte_tokenizer()(TEXT).input_ids)


def work(name: str, text: str = TEXT, steps: int = STEPS):
    capture = shared_runner(name).capture(CaptureRequest(text))
    return attention_work(capture, len(capture.tokens), steps)


def cells(n_rows: int, window: int | None) -> list[int]:
    """Of each row, how many cells it has, counted one by one."""
    return [sum(1 for key in range(row + 1) if window is None or row - key < window) for row in range(n_rows)]


@pytest.mark.parametrize(
    "name, per_cell, window",
    [
        ("llama", N_LAYERS * N_HEADS * (D_HEAD + D_HEAD), None),
        ("gpt-bigcode", N_LAYERS * N_HEADS * (D_HEAD + D_HEAD), None),  # shared keys save bytes, not multiply-adds
        ("deepseek-v3", N_LAYERS * N_HEADS * (12 + 10), None),
        ("mistral", N_LAYERS * N_HEADS * (D_HEAD + D_HEAD), WINDOW),
    ],
)
def test_a_cached_step_is_one_row_and_an_uncached_one_the_whole_triangle(name, per_cell, window):
    rows = cells(N + STEPS, window)
    found = work(name)
    whole = [per_cell * sum(rows[: N + step]) for step in range(STEPS)]
    assert found.uncached.tolist() == whole
    assert found.cached.tolist() == [whole[0], *(per_cell * rows[N + step - 1] for step in range(1, STEPS))]


def test_layers_with_and_without_a_window_are_counted_each_by_its_own_rule():
    per_cell = N_HEADS * (16 + 16)
    sliding, full = cells(N + STEPS, WINDOW), cells(N + STEPS, None)
    rows = [2 * a + b for a, b in zip(sliding, full, strict=True)]  # sliding, full, sliding
    assert work("gemma2").uncached.tolist() == [per_cell * sum(rows[: N + step]) for step in range(STEPS)]


@pytest.mark.parametrize("name, sliding, full", [("mistral", N_LAYERS, 0), ("gemma2", 2, 1)])
def test_a_window_that_the_text_does_not_fill_yet_hides_of_the_longer_one(name, sliding, full):
    width = 16 + 16 if name == "gemma2" else 2 * D_HEAD
    short, steps = "ab", 2 * WINDOW
    rows = [sliding * a + full * b for a, b in zip(cells(2 + steps, WINDOW), cells(2 + steps, None), strict=True)]
    found = work(name, short, steps)
    assert found.cached.tolist()[1:] == [N_HEADS * width * rows[1 + step] for step in range(1, steps)]
    assert found.uncached[-1] == N_HEADS * width * sum(rows[:-1])


def test_layers_without_softmax_attention_count_nothing():
    found = work("qwen3-next")
    one_layer = N_HEADS * (D_HEAD + D_HEAD)
    assert found.cached.tolist()[1:] == [one_layer * (N + step) for step in range(1, STEPS)]


def test_the_first_step_reads_the_text_in_both():
    found = work("llama", "abc")
    assert found.cached[0] == found.uncached[0] == N_LAYERS * N_HEADS * 2 * D_HEAD * 6  # 1 + 2 + 3 cells
