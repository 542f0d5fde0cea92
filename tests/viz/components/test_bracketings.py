"""Linear attention in the browser: both orders and Lightning's blocks are the zoo's own, on the model's own head."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from torch.utils.flop_counter import FlopCounterMode

from analysis.linear_sums import LinearSums, left_first, lightning_sums, linear_sums, right_first
from analysis.zoo import captured_head
from attention.zoo import lightning, linear
from attention.zoo.head import Head
from model_runner import CaptureRequest, load_runner
from tests.node import run_module
from viz.components.bracketings.bracketings import TEXTS, BracketingsPicture

TEXT = "The dog chased the squirrel because it was fast"
SUMMED = """
import { addsOf, blocksOf, cellsOf, keptStates, mapFirst, mapOf, stateAfter, stateFirst }
  from "./viz/components/bracketings/sums.js"
const [work, sizes, counts] = given
const map = mapOf(work)
const kept = keptStates(work)
const plain = (one) => [...one]
answer({
  map: plain(map), left: plain(mapFirst(work, map)), right: plain(stateFirst(work)),
  states: counts.map((count) => plain(stateAfter(work, kept, count).sums)),
  blocks: sizes.map((size) => ({ intra: plain(blocksOf(work, size).intra), inter: plain(blocksOf(work, size).inter) })),
  adds: sizes.map((size) => addsOf(work.n, work.d, work.dv, size)), cells: sizes.map((size) => cellsOf(work.n, size)),
})"""


@functools.cache
def head(model: str = "default", times: int = 1) -> Head:
    return captured_head(load_runner(model).capture(CaptureRequest(text=TEXT * times)), 3, 3)


def summed(sums: LinearSums, sizes: tuple[int, ...] = (), counts: tuple[int, ...] = ()) -> Any:
    """What the scripts make of these numbers."""
    (n, d), dv = sums.q.shape, sums.v.shape[1]
    work = {
        "n": n, "d": d, "dv": dv, "q": sums.q.ravel().tolist(), "k": sums.k.ravel().tolist(),
        "v": sums.v.ravel().tolist(), "causal": sums.causal, "decay": sums.decay, "divides": sums.divides,
    }  # fmt: skip
    return run_module(SUMMED, [work, list(sizes), list(counts)])


@pytest.mark.parametrize("model, times", [("default", 1), ("default", 4), ("encoder", 1)])
def test_both_orders_give_the_output_of_linear_attention(model, times):
    found, expected = summed(linear_sums(head(model, times))), linear.output(head(model, times)).numpy().ravel()
    np.testing.assert_allclose(found["left"], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["right"], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("decay", [1.0, 0.8])
def test_the_state_is_the_sum_of_what_the_tokens_wrote(decay):
    """Σ λ^(t − j) k_j v_jᵀ by one product, at tokens on both sides of a kept state."""
    sums = linear_sums(head(times=4))
    sums = LinearSums(sums.q, sums.k, sums.v, causal=True, decay=decay)
    counts = (0, 1, 15, 16, 17, 33)
    assert len(sums.k) > counts[-1]
    for count, found in zip(counts, summed(sums, counts=counts)["states"], strict=True):
        faded = decay ** np.arange(count - 1, -1, -1)[:, None]
        expected = (sums.k[:count] * faded).T @ sums.v[:count]
        np.testing.assert_allclose(found, expected.ravel(), rtol=0, atol=1e-11)


@pytest.mark.parametrize("half_life", [1, 5])
def test_intra_and_inter_of_blocks_of_any_size_sum_to_the_whole(half_life):
    sizes = (1, 3, 4, 7, 100)
    own = head(times=2)
    sums = lightning_sums(own, half_life)
    found = summed(sums, sizes)
    weights = lightning.weights(own, half_life, 1).numpy()
    n, places = len(weights), np.arange(len(weights))
    np.testing.assert_allclose(found["map"], weights.ravel(), rtol=0, atol=1e-12)
    for size, parts, cells in zip(sizes, found["blocks"], found["cells"], strict=True):
        same = places[:, None] // size == places // size
        np.testing.assert_allclose(parts["intra"], ((weights * same) @ sums.v).ravel(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(parts["inter"], ((weights * ~same) @ sums.v).ravel(), rtol=0, atol=1e-12)
        whole = np.add(parts["intra"], parts["inter"])
        np.testing.assert_allclose(whole, lightning.output(own, half_life, size).numpy().ravel(), rtol=0, atol=1e-12)
        assert cells == {
            "intra": int((same & np.tri(n, dtype=bool)).sum()),
            "inter": int((~same & np.tri(n, dtype=bool)).sum()),
        }


def test_the_work_of_both_orders_is_what_torch_counts_and_that_of_blocks_what_the_table_says():
    own = head()
    (n, d), dv = own.q.shape, own.v.shape[1]
    counted = []
    for product in (lambda: (own.q @ own.k.T) @ own.v, lambda: own.q @ (own.k.T @ own.v)):
        with FlopCounterMode(display=False) as counter:
            product()
        counted.append(counter.get_total_flops() / 2)
    assert [one(n, d, dv).multiply_adds for one in (left_first, right_first)] == counted
    found = summed(linear_sums(own), (4, n))["adds"]
    assert found[0]["left"] + found[0]["right"] == lightning.multiply_adds(n, d, 8, 4)
    assert (found[1]["left"], found[1]["right"]) == tuple(counted)


def sums_of(n: int = 9, **changes: Any) -> bytes:
    """The component's bytes, of made numbers."""
    rows = np.random.default_rng(5)
    q, k, v = rows.uniform(0.1, 2, (n, 6)), rows.uniform(0.1, 2, (n, 6)), rows.normal(size=(n, 5))
    given = {
        "q": q, "k": k, "v": v, "labels": [f"·t{i}" for i in range(n)], "first": 0, "causal": True, "decay": 1.0,
        "divides": True, "block": 0, "read": n - 1, "query": "φ(Q)", "key": "φ(K)", "texts": TEXTS,
    }  # fmt: skip
    return BracketingsPicture(**{**given, **changes}).packed()


def blocks_of(n: int = 9, **changes: Any) -> bytes:
    return sums_of(n, **{"block": 3, "decay": 0.8, "divides": False, "query": "Q", "key": "K"} | changes)
