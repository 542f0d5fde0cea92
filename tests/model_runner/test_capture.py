"""Reading a capture: indices follow Python's rules, any tile can be read, and each number is computed once."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from model_runner.capture import Capture
from model_runner.edits import ScaledHead
from model_runner.errors import NoRotation, NoSuchPlace, NoWeights
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest, GenerateRequest
from tests.model_runner.cases import case_of, shared_runner
from tests.model_runner.tiny import byte_tokenizer, tiny

TEXT = "The dog chased the squirrel because it"
TOKENS = len(TEXT)
LAYERS, HEADS, KV_HEADS, D_HEAD, D_MODEL, VOCAB = 3, 4, 2, 8, 32, 264


@pytest.fixture
def capture() -> Capture:
    """A fresh one, with nothing remembered."""
    runner = LocalRunner(tiny("llama", num_key_value_heads=2)(), byte_tokenizer(), name="tiny", device="cpu")
    return runner.capture(CaptureRequest(text=TEXT))


def test_everything_has_the_shape_it_says(capture: Capture) -> None:
    assert (capture.n_layers, capture.n_heads, capture.n_kv_heads) == (LAYERS, HEADS, KV_HEADS)
    assert len(capture.tokens) == TOKENS
    assert capture.q(0).shape == capture.q_unrotated(0).shape == (HEADS, TOKENS, D_HEAD)
    assert capture.k(0).shape == capture.k_unrotated(0).shape == capture.v(0).shape == (KV_HEADS, TOKENS, D_HEAD)
    assert capture.scores(0, 0).shape == capture.weights(0, 0).shape == (TOKENS, TOKENS)
    assert capture.lse(0).shape == (HEADS, TOKENS)
    assert capture.residual(0).shape == (TOKENS, D_MODEL)
    assert capture.logits(0).shape == (VOCAB,)


# -- places -----------------------------------------------------------------------------------------------------------


def test_negative_layers_heads_and_positions_count_from_the_end(capture: Capture) -> None:
    assert torch.equal(capture.weights(-1, -1), capture.weights(LAYERS - 1, HEADS - 1))
    assert torch.equal(capture.scores(-LAYERS, -HEADS), capture.scores(0, 0))
    assert torch.equal(capture.logits(-1), capture.logits(TOKENS - 1))
    assert torch.equal(capture.lse(-1), capture.lse(LAYERS - 1))
    assert torch.equal(capture.residual(-1), capture.residual(LAYERS))
    assert torch.equal(capture.direct_logits(-1, -1, -1), capture.direct_logits(LAYERS - 1, HEADS - 1, TOKENS - 1))
    assert capture.layer_kind(-1) == capture.layer_kind(LAYERS - 1)


@pytest.mark.parametrize(
    "ask, what, count",
    [
        (lambda capture, i: capture.weights(i, 0), "layer", LAYERS),
        (lambda capture, i: capture.scores(0, i), "head", HEADS),
        (lambda capture, i: capture.weights(0, i), "head", HEADS),
        (lambda capture, i: capture.logits(i), "position", TOKENS),
        (lambda capture, i: capture.direct_logits(0, 0, i), "position", TOKENS),
        (lambda capture, i: capture.q(i), "layer", LAYERS),
        (lambda capture, i: capture.layer_kind(i), "layer", LAYERS),
        (lambda capture, i: capture.has_weights(i), "layer", LAYERS),
        (lambda capture, i: capture.residual(i), "layer", LAYERS + 1),
        (lambda capture, i: capture.lse(i), "layer", LAYERS),
        (lambda capture, i: capture.verify(i), "layer", LAYERS),
    ],
)
def test_a_place_that_does_not_exist_is_said_with_how_many_there_are(
    ask: Any, what: str, count: int, capture: Capture
) -> None:
    ask(capture, count - 1)
    ask(capture, -count)
    for value in (count, -count - 1):
        with pytest.raises(NoSuchPlace) as raised:
            ask(capture, value)
        said = f"There is no {what} {value}: this model and text have {count}, counted from 0."
        assert str(raised.value) == said


def test_a_place_is_a_whole_number(capture: Capture) -> None:
    with pytest.raises(TypeError):
        capture.logits(1.5)  # type: ignore[arg-type]  # that it is refused is the test


# -- tiles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "queries, keys",
    [
        (slice(None), slice(None)),
        (slice(3, 9), slice(0, 4)),
        (slice(-4, None), slice(None, -20)),
        (slice(30, 999), slice(5, 6)),
        (None, slice(2, 3)),
    ],
)
@pytest.mark.parametrize("lse_known", [False, True], ids=["before", "after the denominators were asked for"])
def test_a_tile_is_what_python_s_slices_take_of_the_whole(
    queries: slice | None, keys: slice | None, lse_known: bool, capture: Capture
) -> None:
    whole_queries, whole_keys = queries or slice(None), keys or slice(None)
    if lse_known:
        capture.lse(1)
    tile = capture.weights(1, 2, queries=queries, keys=keys)
    # Another shape of matrix product may sum in another order: a few float32 units of scores up to ~20.
    torch.testing.assert_close(tile, capture.weights(1, 2)[whole_queries, whole_keys], atol=1e-5, rtol=0)
    tile = capture.scores(1, 2, queries=queries, keys=keys)
    torch.testing.assert_close(tile, capture.scores(1, 2)[whole_queries, whole_keys], atol=1e-5, rtol=0)


@pytest.mark.parametrize("lse_known", [False, True], ids=["before", "after the denominators were asked for"])
def test_a_tile_without_rows_or_columns_is_empty(lse_known: bool, capture: Capture) -> None:
    if lse_known:
        capture.lse(0)
    for ask in (capture.weights, capture.scores):
        assert ask(0, 0, queries=slice(5, 5)).shape == (0, TOKENS)
        assert ask(0, 0, queries=slice(7, 3)).shape == (0, TOKENS)
        assert ask(0, 0, keys=slice(99, None)).shape == (TOKENS, 0)


def test_a_slice_with_a_step_is_no_tile(capture: Capture) -> None:
    with pytest.raises(ValueError, match="tiles are contiguous: a slice with a step is not one"):
        capture.weights(0, 0, queries=slice(0, 10, 2))
    with pytest.raises(ValueError, match="tiles are contiguous"):
        capture.scores(0, 0, keys=slice(None, None, -1))


def test_the_weights_of_a_whole_layer_are_those_of_its_heads(capture: Capture) -> None:
    block = capture.layer_weights(1, slice(4, 9))
    assert block.shape == (HEADS, 5, TOKENS)
    for head in range(HEADS):
        expected = capture.weights(1, head, queries=slice(4, 9))
        torch.testing.assert_close(block[head], expected, atol=1e-5, rtol=0)


def test_denominators_of_more_rows_than_a_block_are_those_of_one_row_at_a_time() -> None:
    runner = LocalRunner(tiny("llama")(), byte_tokenizer(), name="tiny", device="cpu")
    capture = runner.capture(CaptureRequest(text=TEXT * 8))  # 304 tokens, blocks are of 128
    for query in (0, 127, 128, 255, 256, 303):
        row = capture.scores(0, 1)[query].double().tolist()
        expected = math.log(math.fsum(math.exp(score) for score in row))
        assert float(capture.lse(0)[1, query]) == pytest.approx(expected, abs=1e-5)  # float32 sums


# -- each number once -------------------------------------------------------------------------------------------------


def test_logits_and_denominators_are_computed_once(capture: Capture) -> None:
    assert capture.logits(-1) is capture.logits(TOKENS - 1)
    assert capture.lse(0) is capture.lse(-LAYERS)


def test_asking_does_not_change_what_is_kept(capture: Capture) -> None:
    kept = [capture.q(1).clone(), capture.k(1).clone(), capture.v(1).clone(), capture.residual(1).clone()]
    capture.weights(1, 0)
    capture.lse(1)
    capture.verify(1)
    capture.q_unrotated(1)
    capture.logits(0)
    capture.direct_logits(1, 0, 0)
    now = [capture.q(1), capture.k(1), capture.v(1), capture.residual(1)]
    assert all(torch.equal(before, after) for before, after in zip(kept, now, strict=True))


# -- layers of other kinds --------------------------------------------------------------------------------------------


def test_a_layer_without_softmax_attention_says_what_it_is() -> None:
    capture = case_of("qwen3-next").capture
    kinds = [capture.layer_kind(layer) for layer in range(capture.n_layers)]
    for layer, kind in enumerate(kinds):
        assert capture.has_weights(layer) == (kind == "full")
    linear = kinds.index("linear")
    for ask in (capture.record, capture.q, capture.k, capture.v, capture.lse, capture.verify, capture.k_unrotated):
        with pytest.raises(NoWeights, match=rf"Layer {linear} has no softmax attention \(linear\)"):
            ask(linear)
    assert capture.residual(linear).shape[0] == len(capture.tokens)  # the stream is there all the same


def test_a_model_without_rotation_says_so() -> None:
    with pytest.raises(NoRotation, match="Layer 1 has no rotation: its queries and keys do not depend on positions"):
        case_of("gpt2").capture.q_unrotated(1)


def test_a_capture_and_its_runner_print_one_line() -> None:
    runner = shared_runner("llama")
    plain = runner.capture(CaptureRequest(TEXT))
    sizes = f"{len(plain.tokens)} tokens, {plain.n_layers} layers, {plain.n_heads} heads"
    assert repr(plain) == f"<Capture: {TEXT[:40] + '…' * (len(TEXT) > 40)!r} by {plain.request.model}, {sizes}>"
    long = runner.capture(CaptureRequest("word " * 30, edits=(ScaledHead(0, 1),)))
    assert "word word …' by " in repr(long)
    assert repr(long).endswith(" heads, 1 edit>")
    assert len(repr(long)) < 160
    assert repr(runner).startswith(f"<Runner: {runner.info.name} (llama), ")
    assert repr(runner).endswith("float32 on cpu>")
    step = next(runner.generate(GenerateRequest("the dog", max_new_tokens=1)))
    likely = f"probability {step.probability:.3g}, rank 1>"
    assert repr(step) == f"<Step 0: {step.token.text!r} at position {step.position}, {likely}"
    n, record = len(plain.tokens), plain.record(0)
    shared = f" on {len(record.k)} of keys and values" if len(record.k) < plain.n_heads else ""
    assert repr(record) == f"<LayerRecord: {plain.n_heads} heads{shared}, {n} queries, {n} keys>"
