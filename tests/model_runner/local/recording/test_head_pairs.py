"""DiffLlama subtracts heads in pairs: both maps, their difference, and what its own norm makes of them."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.head_map import Reading, head_map
from analysis.head_names import head_name
from model_runner.capture import Capture
from model_runner.edits import ScaledHead
from model_runner.errors import EditNotPossible, NoDifference
from model_runner.questions import PatchHeads
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.substitution import Substituted
from tests.model_runner.cases import FAMILY, TEXT, runner_of, shared_runner
from tests.model_runner.tiny import byte_tokenizer

LAYERS, HEADS = 3, 4


def capture_of(dtype: torch.dtype = torch.float32) -> Capture:
    return shared_runner("diffllama", dtype).capture(CaptureRequest(TEXT))


def eager(change: Any = None) -> tuple[Any, list[Tensor], Tensor]:
    """A model that no capture has touched, its eager weights, and its logits; ``change`` is of what attention gives."""
    model: Any = FAMILY["diffllama"].build()
    model.set_attn_implementation("eager")
    modeling: Any = sys.modules[type(model).__module__]
    own = modeling.eager_attention_forward
    if change is not None:
        modeling.eager_attention_forward = lambda module, *args, **kwargs: change(module, *own(module, *args, **kwargs))
    try:
        with torch.no_grad():
            output = model(torch.tensor([byte_tokenizer()(TEXT).input_ids]), output_attentions=True)
    finally:
        modeling.eager_attention_forward = own
    return model, [weights[0] for weights in output.attentions], output.logits[0]


def factor_of(attention: Any) -> float:
    """λ, by the paper's formula and the depth's own start (Ye et al. 2024, eq. 2)."""
    first, second = (
        torch.exp((q * k).sum())
        for q, k in ((attention.lambda_q1, attention.lambda_k1), (attention.lambda_q2, attention.lambda_k2))
    )
    return float((first - second).detach()) + 0.8 - 0.6 * 2.718281828459045 ** (-0.3 * attention.layer_idx)


def test_the_difference_is_that_of_the_models_own_maps_times_its_own_factor() -> None:
    capture = capture_of()
    model, weights, _ = eager()
    for layer in range(LAYERS):
        factor = factor_of(model.model.layers[layer].self_attn)
        for head in range(HEADS):
            expected = weights[layer][head % 2] - factor * weights[layer][head % 2 + 2]
            found = capture.difference(layer, head)
            assert (found - expected).abs().max() <= 1e-5
            torch.testing.assert_close(found.sum(-1), torch.full((len(found),), 1 - factor), atol=1e-5, rtol=0)
            part = capture.difference(layer, head, queries=slice(5, 9), keys=slice(2, 7))
            torch.testing.assert_close(part, found[5:9, 2:7], atol=1e-5, rtol=0)
    with pytest.raises(NoDifference, match="Layer 1 does not subtract heads"):
        shared_runner("llama").capture(CaptureRequest(TEXT)).difference(1, 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_what_is_kept_is_what_the_models_output_projection_reads(dtype: torch.dtype) -> None:
    model = FAMILY["diffllama"].build().to(dtype)  # type: ignore[arg-type]  # transformers types its own `to` so
    read: list[Tensor] = []
    for layer in range(LAYERS):
        projection = model.get_submodule(f"model.layers.{layer}.self_attn.o_proj")
        projection.register_forward_pre_hook(lambda _, args: read.append(args[0][0]))
    with torch.no_grad():
        model(torch.tensor([byte_tokenizer()(TEXT).input_ids]))
    capture = capture_of(dtype)
    for layer, expected in enumerate(read):
        difference = capture.record(layer).difference
        assert difference is not None
        near = 1e-5 if dtype == torch.float32 else 0.1
        assert (difference.joined.flatten(1).float() - expected.float()).abs().max() <= near
        assert capture.verify(layer).ok


@pytest.mark.parametrize("what", ["factor", "gain", "joined", "eps"])
def test_verify_turns_red_when_the_difference_is_wrong(what: str) -> None:
    capture = capture_of()
    for layer in range(LAYERS):
        record = capture.record(layer)
        assert record.difference is not None
        value = getattr(record.difference, what)
        for times in (0.99, 1.01) if what != "eps" else (1e4,):
            wrong = dataclasses.replace(record.difference, **{what: value * times})
            records = list(capture.records)
            records[layer] = dataclasses.replace(record, difference=wrong)
            check = dataclasses.replace(capture, records=tuple(records), _lse={}).verify(layer)
            assert not check.ok, f"layer {layer}: {what} × {times}"


@pytest.mark.parametrize("layer, head", [(0, 1), (1, 3), (2, 0)])
def test_a_head_of_either_map_is_scaled_alone(layer: int, head: int) -> None:
    def scaled(module: Any, output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        output = output.clone()
        if module.layer_idx == layer:
            output[:, :, head] *= 0.5
        return output, weights

    found = shared_runner("diffllama").capture(CaptureRequest(TEXT, edits=(ScaledHead(layer, head, 0.5),)))
    logits = torch.stack([found.logits(position) for position in range(len(found.tokens))])
    assert (logits - eager(scaled)[2]).abs().max() <= 1e-5
    assert (logits - eager()[2]).abs().max() > 1e-3
    assert found.verify(layer).ok


def test_a_head_is_given_both_parts_of_what_it_passed_on_elsewhere() -> None:
    runner, other = shared_runner("diffllama"), TEXT[:-3] + "cat"
    found = runner.submit(PatchHeads(CaptureRequest(TEXT), CaptureRequest(other), 1, 2, (65, 66))).result()
    theirs = runner.capture(CaptureRequest(other)).record(1).output[-1, 2]
    calls: list[int] = []

    def patched(module: Any, output: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        output = output.clone()
        if module.layer_idx == 1:
            part = len(calls)
            calls.append(1)
            output[0, -1, 2] = theirs[part * output.shape[-1] : (part + 1) * output.shape[-1]]
        return output, weights

    after, before = (torch.log_softmax(logits[-1], dim=-1) for logits in (eager(patched)[2], eager()[2]))
    expected = (after[65] - after[66]) - (before[65] - before[66])
    assert float(found[-1]) == pytest.approx(float(expected), abs=3e-5)


def test_what_stands_in_for_softmax_is_refused_with_the_reason() -> None:
    with pytest.raises(EditNotPossible, match="get their values in two parts"):
        shared_runner("diffllama").capture(CaptureRequest(TEXT, edits=(Substituted("linear"),)))


def test_a_text_that_grows_keeps_what_its_steps_joined() -> None:
    runner = runner_of(FAMILY["diffllama"])
    steps = list(runner.generate(GenerateRequest(TEXT, max_new_tokens=4)))
    grown = steps[-1].capture
    whole = runner.capture(grown.request)
    for layer in range(LAYERS):
        mine, its = grown.record(layer).difference, whole.record(layer).difference
        assert mine is not None
        assert its is not None
        assert mine.joined.shape == its.joined.shape
        torch.testing.assert_close(mine.joined, its.joined, atol=1e-5, rtol=0)
        assert grown.verify(layer).ok


def test_the_map_of_a_difference_says_what_it_is() -> None:
    capture = capture_of()
    reading = Reading(what="difference", hide_first=True)
    view = head_map(capture, 1, 3, reading=reading)
    expected = capture.difference(1, 1)
    keep = torch.ones_like(expected).tril().bool()
    torch.testing.assert_close(torch.from_numpy(view.values)[keep], expected[keep])
    assert float(view.values[keep.numpy()].min()) < 0
    assert reading.notes() == [
        "Map 1 of the pair minus λ × map 2: a row sums to 1 − λ, not to 1, and cells can be negative."
    ]
    assert [head_name(capture, 1, head) for head in range(HEADS)] == [
        "H0 − λ·H2 · kv 0", "H1 − λ·H3 · kv 0", "H2 (H0 − λ·H2) · kv 1", "H3 (H1 − λ·H3) · kv 1",
    ]  # fmt: skip
