"""The work of attention under a pattern, counted from a model's own tensors."""

from __future__ import annotations

import pytest

from analysis.mask_cost import HeadWork, head_work, mask_cost
from attention.patterns import BY_NAME, full_cells
from model_runner import CaptureRequest
from tests.analysis.made import causal_noise, embedded, made_capture


def test_a_cell_costs_a_product_of_queries_and_keys_and_one_with_the_values():
    capture = embedded().capture(CaptureRequest(text="The dog"))
    info = embedded().info
    d_head = capture.q(0).shape[-1]
    heads = info.n_layers * info.n_heads
    assert head_work(capture) == HeadWork(heads * 2 * d_head, heads * 4)


def test_a_layer_without_attention_costs_nothing():
    capture = made_capture(causal_noise(5, layers=2, heads=3), without=[0])
    assert head_work(capture) == HeadWork(3 * (5 + 4), 3 * 8)  # d_head is 5, d_value 4, float64


@pytest.mark.parametrize("n_tokens", [1, 1_024, 131_072])
def test_full_attention_costs_every_causal_cell_and_a_window_its_own(n_tokens):
    work = HeadWork(10, 2)
    full = mask_cost(BY_NAME["full"], {}, n_tokens, work)
    assert (full.cells, full.multiply_adds, full.n_bytes) == tuple(full_cells(n_tokens) * x for x in (1, 10, 2))
    narrow = mask_cost(BY_NAME["window"], {"window": 4}, n_tokens, work)
    assert narrow.cells == sum(min(q + 1, 4) for q in range(n_tokens))
