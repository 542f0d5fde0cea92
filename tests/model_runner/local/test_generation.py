"""The contract of a generation, for every family that can continue a text: as if each step were one whole forward."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from model_runner.capture import Capture
from model_runner.edits import Edit, Int8Cache, KeepLast
from model_runner.errors import CannotContinue, NotRecoverable
from model_runner.local.loading.loader import load_runner
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.local.runner import LocalRunner
from model_runner.questions import Beams
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.rotary import Rotation
from model_runner.step import Step
from model_runner.transforms import Sampling
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.families import FAMILIES, LONG_ROPE, WINDOW, often
from tests.model_runner.stored import stored_bytes, stored_tensors
from tests.model_runner.tiny import byte_tokenizer, tiny

NEW = 12
LONG, SHORT = TEXT, "ab"  # longer than every window, and so short that the text grows through it
ENCODERS = ("bert", "roberta", "distilbert", "modernbert", "albert")
CAUSAL = tuple(family.name for family in FAMILIES if family.name not in ENCODERS)
CLOSE = 1e-5  # float32, see tests/model_runner/cases.py


def endless(name: str) -> LocalRunner:
    """A runner whose texts only end at the limit."""
    runner = runner_of(FAMILY[name])
    runner.engine.model.generation_config.eos_token_id = None
    return runner


@functools.cache
def grown(name: str, text: str) -> tuple[LocalRunner, tuple[Step, ...]]:
    runner = endless(name)
    return runner, tuple(runner.generate(GenerateRequest(text, max_new_tokens=NEW)))


def all_weights(capture: Capture, layer: int) -> Tensor:
    return capture.layer_weights(layer, slice(0, len(capture.tokens)))


def apart(one: Tensor, other: Tensor) -> float:
    """The largest difference, relative to the largest number where that is above 1."""
    assert one.shape == other.shape
    return float((one - other).abs().max()) / max(1.0, float(other.abs().max()))


def assert_same(capture: Capture, whole: Capture, *, own_code: bool = False) -> None:
    assert capture.tokens == whole.tokens
    assert capture.text == whole.text
    assert capture.kinds == whole.kinds
    for layer in range(whole.n_layers):
        assert apart(capture.residual(layer), whole.residual(layer)) <= CLOSE
        assert capture.has_weights(layer) == whole.has_weights(layer)
        if not whole.has_weights(layer):
            continue
        found, expected = all_weights(capture, layer), all_weights(whole, layer)
        assert (found - expected).abs().max() <= CLOSE, f"layer {layer}"
        assert torch.equal(found > 0, expected > 0)
        assert apart(capture.lse(layer), whole.lse(layer)) <= CLOSE
        assert apart(capture.record(layer).output, whole.record(layer).output) <= CLOSE
        check = capture.verify(layer)
        assert check.ok, f"layer {layer}: {check}"
        for mine, its in ((capture.q_unrotated, whole.q_unrotated), (capture.k_unrotated, whole.k_unrotated)):
            if isinstance(whole.record(layer).rotation, Rotation):
                if own_code:  # whose rotation is read off whole texts alone
                    continue
                assert apart(mine(layer), its(layer)) <= CLOSE
                continue
            with pytest.raises(NotRecoverable) as refused:
                its(layer)
            with pytest.raises(type(refused.value), match=re.escape(str(refused.value))):
                mine(layer)
    assert apart(capture.residual(whole.n_layers), whole.residual(whole.n_layers)) <= CLOSE
    for position in (0, len(whole.tokens) // 2, len(whole.tokens) - 1):
        assert apart(capture.logits(position), whole.logits(position)) <= CLOSE


@pytest.mark.table
@pytest.mark.parametrize("text", [LONG, SHORT], ids=["long", "short"])
@pytest.mark.parametrize("name", often(CAUSAL))
def test_a_capture_of_a_step_is_that_of_one_whole_forward_over_the_same_tokens(name: str, text: str) -> None:
    runner, steps = grown(name, text)
    for step in (steps[NEW // 2], steps[-1]):
        assert len(step.capture.tokens) == step.position + 1
        assert step.capture.tokens[-1] == step.token
        assert_same(step.capture, runner.capture(step.capture.request), own_code=FAMILY[name].own_code)


@pytest.mark.parametrize("name", often(CAUSAL))
def test_the_logits_of_a_step_are_those_of_the_whole_forward_before_its_token(name: str) -> None:
    runner, steps = grown(name, LONG)
    whole = runner.capture(steps[-1].capture.request)
    for step in steps:
        assert apart(step.logits, whole.logits(step.position - 1)) <= CLOSE


@pytest.mark.table
@pytest.mark.parametrize("text", [LONG, SHORT], ids=["long", "short"])
@pytest.mark.parametrize("name", often(CAUSAL))
def test_greedy_is_what_transformers_generates(name: str, text: str) -> None:
    _, steps = grown(name, text)
    ids = torch.tensor([byte_tokenizer()(text).input_ids])
    plain = FAMILY[name].build()
    plain.generation_config.eos_token_id = None
    made = plain.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW)
    for step in steps:
        first, second = step.logits.topk(2).values.tolist()
        assert first - second > 1e-4, "two tokens are as good as equal here: this model proves nothing"
    assert [step.token.id for step in steps] == made[0, ids.shape[1] :].tolist()


def test_greedy_is_what_transformers_generates_with_the_embedded_model() -> None:
    runner = load_runner(device="cpu", dtype="float32")
    assert isinstance(runner, LocalRunner)
    text = "The dog chased the cat because it was"
    steps = list(runner.generate(GenerateRequest(text, max_new_tokens=40)))
    plain: Any = AutoModelForCausalLM.from_pretrained(DEFAULT_FOLDER, dtype=torch.float32)
    ids = torch.tensor([runner.engine.tokenizer(text)["input_ids"]])
    made = plain.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=40)
    assert [step.token.id for step in steps] == made[0, ids.shape[1] :].tolist()
    assert_same(steps[-1].capture, runner.capture(steps[-1].capture.request))


@functools.cache
def long_rope() -> LocalRunner:
    """A Llama, whose old keys transformers' own generation leaves in its cache."""
    return LocalRunner(tiny("llama", rope_parameters=LONG_ROPE)(), byte_tokenizer(), name="llama-longrope")


def test_where_a_rotation_changes_with_the_length_the_text_is_read_anew() -> None:
    runner = long_rope()
    steps = list(runner.generate(GenerateRequest("abcde", max_new_tokens=9)))
    for step in steps:
        assert_same(step.capture, runner.capture(step.capture.request))
    assert apart(steps[2].capture.k(0), steps[3].capture.k(0)[:, :8]) > 0.1  # what was given out is as it was


def test_a_beam_search_across_such_a_length_scores_every_token_after_the_whole_text_before_it() -> None:
    runner = long_rope()
    best = runner.submit(Beams(GenerateRequest("abcde", max_new_tokens=9), 3)).result().ranking[0].beam
    captures = [runner.capture(CaptureRequest("abcde", continuation=best.ids[:n])) for n in range(len(best.ids))]
    own = [capture.logits(-1).log_softmax(-1)[token_id].item() for capture, token_id in zip(captures, best.ids)]
    assert best.log_probs == pytest.approx(own, abs=1e-4)


def test_a_race_across_such_a_length_has_the_same_tokens_in_both_lanes() -> None:
    steps = list(long_rope().race(GenerateRequest("abcde", max_new_tokens=9)))
    assert [step.cached.id for step in steps] == [step.uncached.id for step in steps]


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_cannot_continue_a_text_and_says_so(name: str) -> None:
    runner = runner_of(FAMILY[name])
    with pytest.raises(CannotContinue, match=f"The model {name} .* cannot continue a text: it was not made to predict"):
        next(runner.generate(GenerateRequest("hello")))
    assert runner.capture(CaptureRequest("hello")).verify(0).ok


def test_a_model_whose_attention_looks_ahead_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = runner_of(FAMILY["bert"])
    monkeypatch.setattr(runner.engine.model, "can_generate", lambda: True, raising=False)
    with pytest.raises(CannotContinue, match="its attention looks ahead at later tokens"):
        next(runner.generate(GenerateRequest("hello")))


# -- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", often(CAUSAL))
def test_what_is_kept_grows_by_exactly_one_row_a_step(name: str) -> None:
    _, steps = grown(name, LONG)
    sizes = [step.capture.hidden.nbytes + sum(_rows(step.capture)) for step in steps]
    row = sizes[0] // (steps[0].position + 1)
    assert [size - before for before, size in itertools.pairwise(sizes)] == [row] * (NEW - 1)


def _rows(capture: Capture) -> list[int]:
    layers = [capture.record(layer).nbytes for layer in range(capture.n_layers) if capture.has_weights(layer)]
    return layers + [stream.nbytes for stream in capture.residuals]


@pytest.mark.table
@pytest.mark.parametrize(
    "name", ["gemma2", *(pytest.param(one, marks=pytest.mark.long) for one in ("llama", "deepseek-v3", "jamba"))]
)  # gemma2 has windows too
def test_all_steps_together_hold_one_set_of_rows_and_nothing_of_tokens_times_tokens(name: str) -> None:
    steps = list(endless(name).generate(GenerateRequest("the dog " * 12, max_new_tokens=200)))
    captures = [step.capture for step in steps]
    kept = captures[-1].nbytes
    # cos and sin, a state of layers without attention, and the logits of each step come on top
    apart_from_rows = sum(step.logits.nbytes for step in steps)
    assert stored_bytes(captures) <= 1.25 * kept
    assert stored_bytes(steps) <= 1.25 * kept + apart_from_rows
    tokens = len(captures[-1].tokens)
    largest = max(
        tensor.numel() for tensor in stored_tensors([captures[0], captures[-1]]) if tensor.dtype != torch.uint8
    )
    assert largest < tokens * tokens


@pytest.mark.parametrize("name", ["mistral", "gemma3"])
def test_rows_that_left_the_window_are_kept_all_the_same(name: str) -> None:
    _, steps = grown(name, SHORT)
    capture = steps[-1].capture
    layer = FAMILY[name].kinds.index("sliding")
    assert capture.k(layer).shape[1] == len(capture.tokens) > WINDOW
    assert not capture.weights(layer, 0)[-1, : len(capture.tokens) - WINDOW].any()


def test_a_row_on_its_own_gives_the_weights_of_the_whole_layer() -> None:
    _, steps = grown("gpt-oss", LONG)
    capture = dataclasses.replace(steps[-1].capture, _lse={})
    row = slice(len(capture.tokens) - 1, len(capture.tokens))
    alone = capture.layer_weights(0, row)
    assert not capture._lse  # the denominators of the other rows were not needed
    assert capture.lse(0).shape[1] == len(capture.tokens)
    torch.testing.assert_close(alone, capture.layer_weights(0, row), atol=1e-6, rtol=0)


# -- edits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["llama", "mistral", "gemma2", "gpt2", "gpt-oss", "deepseek-v3"])
@pytest.mark.parametrize("edit", [KeepLast(3, sinks=1), Int8Cache()], ids=["window", "int8"])
def test_an_edited_generation_is_the_edited_forward(name: str, edit: Edit) -> None:
    runner = endless(name)
    steps = list(runner.generate(GenerateRequest(LONG, max_new_tokens=5, edits=(edit,))))
    capture = steps[-1].capture
    assert capture.request.edits == (edit,)
    if isinstance(edit, KeepLast):
        assert_same(capture, runner.capture(capture.request))
    else:  # a number on the border of two of the 255 levels falls to either side by rounding
        whole = runner.capture(capture.request)
        for layer in range(whole.n_layers):
            assert capture.verify(layer).ok
            assert (all_weights(capture, layer) - all_weights(whole, layer)).abs().max() <= 0.02
    plain = next(runner.generate(GenerateRequest(LONG, max_new_tokens=5)))
    assert not torch.equal(steps[0].logits, plain.logits)


# -- other dtypes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["llama", "gemma2"])
def test_every_layer_of_a_half_precision_generation_verifies(name: str) -> None:
    runner = runner_of(FAMILY[name], dtype=torch.bfloat16)
    runner.engine.model.generation_config.eos_token_id = None
    request = GenerateRequest(LONG, max_new_tokens=6, sampling=Sampling(seed=3))
    last = list(runner.generate(request))[-1]
    assert last.logits.dtype == torch.float32
    for layer in range(last.capture.n_layers):
        check = last.capture.verify(layer)
        assert check.ok, f"layer {layer}: {check}"
