"""A head's chain: shown and hidden terms add up to the model's own numbers, at every step."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch

from analysis.joined import joined
from analysis.step_chain import step_chain
from analysis.step_window import DIMENSIONS, TOKENS, largest
from model_runner import CaptureRequest, load_runner
from model_runner.capture import Capture
from tests.analysis.test_cell import captured

TEXT = "The dog chased the squirrel because it"
LAYER, HEAD = 1, 2
CLOSE = 2e-5  # the capture's own numbers are float32


@functools.cache
def default() -> Capture:
    return load_runner("default").capture(CaptureRequest(text=TEXT))


@functools.cache
def of(family: str) -> Capture:
    if family == "default":
        return default()
    return captured(family)


def products(chain, step):
    left, right = chain.matrices[step.left].values, chain.matrices[step.right].values
    return left @ (right.T if step.numbers.get("turned") else right)


@pytest.mark.parametrize("family", ["default", "llama", "gemma2", "gpt-oss", "deepseek-v3", "gpt2"])
def test_what_is_shown_and_what_is_not_add_up_to_the_models_numbers(family):
    capture = of(family)
    query = len(capture.tokens) - 1
    chain = step_chain(capture, LAYER, HEAD, query)
    rows, keys = list(chain.window.queries), list(chain.window.keys)
    step = {one.id: one for one in chain.steps}
    shown = chain.matrices
    assert len(keys) <= TOKENS
    assert query in rows
    scores = products(chain, step["scores"]) + step["scores"].rest
    np.testing.assert_allclose(scores, shown["S"].values, atol=1e-9)
    expected = capture.scores(LAYER, HEAD)[rows][:, keys].double().numpy()
    np.testing.assert_allclose(shown["M"].values, expected, atol=CLOSE * 10)
    assert np.array_equal(np.isneginf(shown["M"].values), np.isneginf(expected))
    weights = capture.weights(LAYER, HEAD)[rows][:, keys].double().numpy()
    np.testing.assert_allclose(shown["A"].values, weights, atol=CLOSE)
    top = np.array(step["softmax"].numbers["top"])[:, None]
    powers = np.exp(shown["M"].values - top)
    np.testing.assert_allclose(powers / (powers.sum(1, keepdims=True) + step["softmax"].rest), weights, atol=CLOSE)
    mixed = products(chain, step["mix"]) + step["mix"].rest
    output = capture.record(LAYER).output[rows, HEAD].double().numpy()[:, list(shown["O"].columns)]
    np.testing.assert_allclose(mixed, output, atol=CLOSE * 10)


@pytest.mark.parametrize("family", ["default", "llama"])
def test_the_turn_spelled_out_gives_the_turned_numbers(family):
    capture = of(family)
    chain = step_chain(capture, LAYER, HEAD, len(capture.tokens) - 1)
    turned = [step for step in chain.steps if step.kind == "rotate"]
    assert [step.id for step in turned] == ["rq", "rk"]
    for step in turned:
        before, after = chain.matrices[step.left].values, chain.matrices[step.result].values
        partner, cos, sin = (step.numbers[name] for name in ("partner", "cos", "sin"))
        assert not np.allclose(sin, 0)
        for i, j in np.ndindex(after.shape):
            expected = before[i, j] * cos[i, j] + before[i, partner[j]] * sin[i, j]
            assert after[i, j] == pytest.approx(expected, abs=CLOSE)


def test_the_heads_shares_are_what_the_output_projection_makes_of_them():
    runner = load_runner("default")
    layer, query, kept = 3, 7, []
    module = runner.engine.model.model.layers[layer].self_attn.o_proj
    handle = module.register_forward_hook(lambda _module, _inputs, output: kept.append(output[0].detach()))
    try:
        capture = runner.capture(CaptureRequest(text=f"{TEXT} was"))
    finally:
        handle.remove()
    chain = step_chain(capture, layer, 1, query)
    (step,) = [one for one in chain.steps if one.id == "out"]
    columns = list(chain.matrices["Y"].columns)
    expected = kept[-1][query][columns].double().numpy()
    np.testing.assert_allclose(chain.matrices["Y"].values[0], expected, atol=CLOSE * 10)
    total = chain.matrices["H"].values.sum(0) + step.rest[0]
    np.testing.assert_allclose(total, expected, atol=CLOSE * 10)
    assert torch.is_tensor(capture.head_writes(layer, query))


def test_what_is_looked_at_most_is_shown_with_the_query():
    capture = default()
    query = len(capture.tokens) - 1
    chain = step_chain(capture, 6, 4, query)
    row = capture.weights(6, 4)[query]
    assert (
        set(chain.window.keys) == {query, *row.topk(TOKENS - 1).indices.tolist()}
        or query in row.topk(TOKENS - 1).indices
    )
    assert list(chain.window.keys) == sorted(chain.window.keys)
    assert all(len(chain.matrices[name].columns) <= DIMENSIONS for name in ("X", "Q", "V", "Z", "Y"))


def test_of_a_translator_the_written_tokens_look_at_those_that_are_read():
    capture = load_runner("translator").capture(CaptureRequest(text="The dog sleeps."))
    cross = joined(capture.attention("cross"))
    query = len(cross.tokens) - 1
    chain = step_chain(cross, 1, 2, query)
    assert max(chain.window.keys) < cross.n_read <= min(chain.window.queries)
    n_written = len(cross.tokens) - cross.n_read
    shapes = {name: chain.matrices[name].shape for name in "QKVAO"}
    assert {name: rows for name, (rows, _) in shapes.items()} == {
        "Q": n_written, "K": cross.n_read, "V": cross.n_read, "A": n_written, "O": n_written,
    }  # fmt: skip  # a row of names
    assert shapes["A"][1] == cross.n_read
    weights = cross.weights(1, 2)[list(chain.window.queries)][:, list(chain.window.keys)]
    np.testing.assert_allclose(chain.matrices["A"].values, weights.double().numpy(), atol=CLOSE)
    assert "X" not in chain.matrices


def test_a_text_of_one_token_is_shown_too():
    capture = load_runner("encoder").capture(CaptureRequest(text="a"))
    chain = step_chain(capture, 0, 0, 0)
    weights = capture.weights(0, 0)[list(chain.window.queries)][:, list(chain.window.keys)]
    np.testing.assert_allclose(chain.matrices["A"].values, weights.double().numpy(), atol=CLOSE)
    assert chain.window.queries[0] == 0


def test_dimensions_that_turn_together_are_chosen_together():
    assert largest(np.array([5.0, 1.0, 2.0, 0.0, 9.0]), [(0, 3), (1, 2), (4,)], most=3) == [0, 3, 4]
    assert largest(np.array([1.0, 2.0]), [(0,), (1,)], most=8) == [0, 1]
