"""Units of feed-forward parts: they sum to the part's output, and active ones match a plain hook."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import FeedForwardUnits, StreamAdditions
from model_runner.errors import NotSeparable
from model_runner.local.runner import LocalRunner
from tests.model_runner.cases import TEXT, shared_runner
from tests.model_runner.scaled import SCALES, scaled_llama
from tests.model_runner.tiny import byte_tokenizer

# Paths of the first matrix (whose output the activation reads) and of the last, and where the last has its bias.
WRITTEN = {
    "llama": ("model.layers.1.mlp.gate_proj", "model.layers.1.mlp.down_proj"),
    "gpt2": ("transformer.h.1.mlp.c_fc", "transformer.h.1.mlp.c_proj"),
    "opt": ("model.decoder.layers.1.fc1", "model.decoder.layers.1.fc2"),
    "granite": ("model.layers.1.mlp.gate_proj", "model.layers.1.mlp.down_proj"),
    "gpt-neox": ("gpt_neox.layers.1.mlp.dense_h_to_4h", "gpt_neox.layers.1.mlp.dense_4h_to_h"),
    "bert": ("bert.encoder.layer.1.intermediate.dense", "bert.encoder.layer.1.output.dense"),
    "phi3": ("model.layers.1.mlp.gate_up_proj", "model.layers.1.mlp.down_proj"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_all_units_together_are_what_the_part_adds(name: str) -> None:
    runner, request = shared_runner(name), CaptureRequest(TEXT)
    found = runner.submit(FeedForwardUnits(request, 1, 5)).result()
    down = runner.engine.model.get_submodule(WRITTEN[name][1])
    weight = down.weight if down.weight.shape[1] == len(found.values) else down.weight.T
    total = sum(found.values[i].double() * weight[:, i].double() for i in range(len(found.values)))
    total = total + (down.bias.double() if getattr(down, "bias", None) is not None else 0)
    added = runner.submit(StreamAdditions(request, 5)).result()
    (at,) = [i for i, step in enumerate(added.steps) if (step.layer, step.part) == (1, "ffn")]
    factor = 0.7 if name == "granite" else 1.0
    torch.testing.assert_close(factor * total, added.vectors[at].double(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("attention, stack, place", [("encoder", "encoder", 1), ("decoder", "decoder", 2)])
def test_units_of_the_translators_stacks_are_what_their_part_adds(attention: str, stack: str, place: int) -> None:
    runner, request = load_runner("translator"), CaptureRequest("A dog sleeps.", attention=attention)
    found = runner.submit(FeedForwardUnits(request, 1, 2)).result()
    part = getattr(runner.engine.model, stack).block[1].layer[place].DenseReluDense
    total = part.wo.weight.double() @ found.values.double()
    added = runner.submit(StreamAdditions(request, 2)).result()
    (at,) = [i for i, step in enumerate(added.steps) if (step.layer, step.part) == (1, "ffn")]
    torch.testing.assert_close(total, added.vectors[at].double(), rtol=1e-4, atol=1e-5)
    assert found.promoted.shape == (8, 0)


@pytest.mark.parametrize("name", WRITTEN)
def test_active_units_are_those_whose_gate_is_above_zero(name: str) -> None:
    runner, seen = shared_runner(name), list[Tensor]()
    module = runner.engine.model.get_submodule(WRITTEN[name][0])
    hook = module.register_forward_hook(lambda _, __, output: seen.append(output.reshape(-1, output.shape[-1])))
    found = runner.submit(FeedForwardUnits(CaptureRequest(TEXT), 1, 5)).result()
    hook.remove()
    gate = next(one for one in seen if len(one) == found.active.shape[1])[:, : len(found.before)]
    torch.testing.assert_close(found.before, gate[5])
    for token in range(len(gate)):
        assert float(found.active[1, token]) == pytest.approx(sum(x > 0 for x in gate[token].tolist()) / gate.shape[1])


def test_top_units_add_the_longest_vectors_and_raise_the_logits_of_their_tokens() -> None:
    runner, request = load_runner("default"), CaptureRequest("The capital of France is")
    capture, last = runner.capture(request), runner.info.n_layers - 1
    found = runner.submit(FeedForwardUnits(request, last, -1, 3)).result()
    model = runner.engine.model
    weight = model.model.layers[last].mlp.down_proj.weight
    lengths = [float((found.values[i] * weight[:, i]).norm()) for i in range(len(found.values))]
    assert found.top.tolist() == sorted(range(len(lengths)), key=lambda i: -lengths[i])[:3]
    stream = capture.residual(-1)[-1].double()
    scale = model.model.norm.weight.double() / (stream.square().mean() + model.config.rms_norm_eps).sqrt()
    for place, unit in enumerate(found.top.tolist()):
        added = model.lm_head.weight.double() @ (scale * (found.values[unit] * weight[:, unit]).double())
        best = added.topk(5)
        assert found.promoted[place].tolist() == best.indices.tolist()
        torch.testing.assert_close(found.logits[place].double(), best.values, rtol=1e-3, atol=1e-4)


def test_what_a_unit_promotes_goes_through_what_the_later_layers_multiply_the_stream_by() -> None:
    runner, request = LocalRunner(scaled_llama(), byte_tokenizer(), name="scaled"), CaptureRequest(TEXT)
    found, stream = (
        runner.submit(FeedForwardUnits(request, 0, -1, 3)).result(),
        runner.capture(request).residual(-1)[-1],
    )
    model = runner.engine.model
    weight = model.model.layers[0].mlp.down_proj.weight.double()
    size = (stream.double().square().mean() + model.config.rms_norm_eps).sqrt()
    for place, unit in enumerate(found.top.tolist()):
        added = math.prod(SCALES) * found.values[unit].double() * weight[:, unit]
        best = (model.lm_head.weight.double() @ (model.model.norm.weight.double() * added / size)).topk(5)
        assert found.promoted[place].tolist() == best.indices.tolist()
        torch.testing.assert_close(found.logits[place].double(), best.values, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["bert", "gemma2", "gptj"])
def test_tokens_are_promoted_only_where_the_way_to_the_logits_is_proven(name: str) -> None:
    found = shared_runner(name).submit(FeedForwardUnits(CaptureRequest(TEXT), 1, 2)).result()
    assert found.promoted.shape == (8, 0)


@pytest.mark.parametrize("name", ["mixtral", "qwen3-next", "deepseek-v3", "llama4"])  # the last three: one is shared
def test_experts_have_no_units_of_one_part(name: str) -> None:
    with pytest.raises(NotSeparable, match="experts"):
        shared_runner(name).submit(FeedForwardUnits(CaptureRequest(TEXT), 1, 2)).result()


def test_the_top_units_are_those_that_add_the_longest_vectors() -> None:
    runner, layer = load_runner("default"), 3
    found = runner.submit(FeedForwardUnits(CaptureRequest(TEXT), layer, 4)).result()
    matrix = runner.engine.model.model.layers[layer].mlp.down_proj.weight.double()
    every = [float((value * matrix[:, unit]).norm()) for unit, value in enumerate(found.values.double())]
    order = sorted(range(len(every)), key=lambda unit: -every[unit])[: len(found.top)]
    assert found.top.tolist() == order
    assert found.lengths.tolist() == pytest.approx([every[unit] for unit in order], rel=1e-4)


# Where a norm follows the part: its eps, and what it multiplies by.
NORMED = {
    "gemma2": (1e-6, lambda norm: 1 + norm.weight),
    "olmo2": (1e-5, lambda norm: norm.weight),
}


@pytest.mark.parametrize("name", NORMED)
def test_where_a_norm_follows_units_add_what_it_makes_of_each_and_together_what_the_part_adds(name: str) -> None:
    runner, request, (eps, gain) = shared_runner(name), CaptureRequest(TEXT), NORMED[name]
    found = runner.submit(FeedForwardUnits(request, 1, 5)).result()
    layer = runner.engine.model.model.layers[1]
    columns = found.values.double() * layer.mlp.down_proj.weight.double()
    size = (columns.sum(dim=1).square().mean() + eps).sqrt()
    added = gain(layer.post_feedforward_layernorm).double()[:, None] * columns / size
    stream = runner.submit(StreamAdditions(request, 5)).result()
    (at,) = [i for i, step in enumerate(stream.steps) if (step.layer, step.part) == (1, "ffn")]
    torch.testing.assert_close(added.sum(dim=1), stream.vectors[at].double(), rtol=1e-3, atol=1e-5)
    longest = added.norm(dim=0).topk(len(found.top))
    assert found.follows == "norm"
    assert found.top.tolist() == longest.indices.tolist()
    torch.testing.assert_close(found.lengths.double(), longest.values, rtol=1e-3, atol=1e-6)


def test_what_a_unit_adds_is_times_the_factor_of_its_part() -> None:
    runner = shared_runner("granite")
    found = runner.submit(FeedForwardUnits(CaptureRequest(TEXT), 1, 5)).result()
    columns = found.values.double() * runner.engine.model.model.layers[1].mlp.down_proj.weight.double()
    torch.testing.assert_close(found.lengths.double(), 0.7 * columns.norm(dim=0)[found.top], rtol=1e-4, atol=1e-6)
    assert found.follows == "nothing"
