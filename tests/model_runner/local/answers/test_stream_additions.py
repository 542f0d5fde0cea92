"""Stream after = before + attention + FFN, on every family; and the parts are those of the model's own code."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import Additions, StreamAdditions
from model_runner.edits import Edit, MeanHead, OfAttention, ScaledHead
from model_runner.errors import NoSuchPlace
from model_runner.local.answers.block_path import block_path
from model_runner.local.answers.block_probe import Event, LayerRun
from model_runner.local.runner import LocalRunner
from tests.model_runner.cases import TEXT, shared_runner
from tests.model_runner.families import FAMILIES, ONE_STREAM, often
from tests.model_runner.scaled import SCALES, scaled_gemma4, scaled_llama
from tests.model_runner.tiny import byte_tokenizer

# What the code of each family adds, by hand: module of the first part, of the second, of norms in the stream.
WRITTEN: dict[str, tuple[str, ...]] = {
    "llama": ("self_attn", "mlp"), "gpt2": ("attn", "mlp"), "opt": ("self_attn", "fc2"), "gptj": ("attn", "mlp"),
    "gpt-neox": ("attention", "mlp"), "cohere": ("self_attn", "mlp"), "falcon": ("self_attention", "mlp"),
    "gemma2": ("post_attention_layernorm", "post_feedforward_layernorm"), "granite": ("self_attn", "mlp"),
    "olmo2": ("post_attention_layernorm", "post_feedforward_layernorm"), "mixtral": ("self_attn", "mlp"),
    "bert": ("attention.output.dense", "attention.output.LayerNorm", "output.dense", "output.LayerNorm"),
    "distilbert": ("attention", "sa_layer_norm", "ffn", "output_layer_norm"), "modernbert": ("attn", "mlp"),
    "qwen3-next": ("linear_attn", "mlp"), "jamba": ("mamba", "feed_forward"), "llama4": ("self_attn", "feed_forward"),
}  # fmt: skip  # of their first layer
# Layers of one step: Doge multiplies the stream by learned numbers before each sum; a layer of Inkling 2 that ends a
# block drops the stream that came in.
ONE_STEP = {"doge": (0, 1, 2), "doge-wide": (0, 1, 2), "inkling2": (0,)}
PARALLEL = {"phi", "cohere", "cohere2", "gpt-neox", "gptj", "falcon"}


@functools.cache
def additions(name: str, position: int = -1) -> Additions:
    return shared_runner(name).submit(StreamAdditions(CaptureRequest(TEXT), position)).result()


def check_sums(found: Additions, residuals: tuple[Tensor, ...], position: int) -> None:
    """After each layer's last step the vectors so far add up to the stream, in float64, and lengths are those of it."""
    total = torch.zeros(found.vectors.shape[1], dtype=torch.float64)
    for i, (step, vector) in enumerate(zip(found.steps, found.vectors, strict=True)):
        total += vector.double()
        ends = i + 1 == len(found.steps) or found.steps[i + 1].layer != step.layer
        size = float(found.vectors[: i + 1].double().norm(dim=-1).sum())
        assert float(found.streams[i, position]) == pytest.approx(float(total.norm()), abs=1e-5 * size)
        assert float(found.lengths[i, position]) == pytest.approx(float(vector.norm()), rel=1e-5)
        if step.part == "between":
            assert step.layer is not None
            torch.testing.assert_close(total, residuals[step.layer][position].double(), rtol=0, atol=2e-6 * size)
        elif ends and not (i + 1 < len(found.steps) and found.steps[i + 1].part == "between"):
            after = residuals[0 if step.layer is None else step.layer + 1][position].double()
            torch.testing.assert_close(total, after, rtol=0, atol=2e-6 * size)


@pytest.mark.parametrize("name", often(family.name for family in ONE_STREAM))
def test_the_stream_after_is_before_plus_attention_plus_ffn(name: str) -> None:
    found, capture = additions(name), shared_runner(name).capture(CaptureRequest(TEXT))
    check_sums(found, capture.residuals, -1)
    layers = range(capture.n_layers)
    for layer in layers:
        parts = [step.part for step in found.steps if step.layer == layer and step.part not in ("norm", "between")]
        experts = ["ffn"] if name == "longcat-flash" and layer % 2 else []  # of the block, which end with it
        mixer = "attention" if capture.has_weights(layer) else "mixer"
        assert parts == (["layer"] if layer in ONE_STEP.get(name, ()) else [mixer, *experts, "ffn"])
    assert found.parallel == (tuple(layers) if name in PARALLEL else ())


@pytest.mark.parametrize("name", [family.name for family in FAMILIES if family.several_streams])
def test_of_several_streams_a_layer_is_one_step(name: str) -> None:
    found, capture = additions(name), shared_runner(name).capture(CaptureRequest(TEXT))
    check_sums(found, capture.residuals, -1)
    assert [(step.layer, step.part) for step in found.steps] == [
        (None, "embedding"), *((layer, "layer") for layer in range(capture.n_layers))
    ]  # fmt: skip  # a line for what belongs together


@pytest.mark.parametrize("name", WRITTEN)
def test_the_parts_are_those_that_the_models_code_adds(name: str) -> None:
    whole = shared_runner(name).engine.structure
    first = whole.names[id(whole.layers[0])]
    assert [step.module for step in additions(name).steps if step.layer == 0] == [
        f"{first}.{module}" for module in WRITTEN[name]
    ]


@pytest.mark.parametrize("model", ["default", "encoder"])
def test_the_sums_of_the_embedded_models(model: str) -> None:
    runner, request = load_runner(model), CaptureRequest("The dog chased the squirrel because it")
    for position in (0, 3):
        check_sums(
            runner.submit(StreamAdditions(request, position)).result(), runner.capture(request).residuals, position
        )


@pytest.mark.parametrize(
    "edits", [(), tuple(OfAttention(one, MeanHead(1, 2)) for one in ("encoder", "decoder", "cross"))]
)
@pytest.mark.parametrize("attention, parts", [("encoder", 2), ("decoder", 3), ("cross", 3)])
def test_the_sums_of_both_stacks_of_the_embedded_translator(
    attention: str, parts: int, edits: tuple[Edit, ...]
) -> None:
    runner = load_runner("translator")
    request = CaptureRequest("A dog sleeps.", attention=attention, target="一只狗在睡觉。", edits=edits)
    found, capture = runner.submit(StreamAdditions(request, 2)).result(), runner.capture(request)
    check_sums(found, capture.residuals, 2)
    own = ["attention", "cross", "ffn"] if parts == 3 else ["attention", "ffn"]
    assert [step.part for step in found.steps] == ["embedding", *own * capture.n_layers]
    layer = runner.engine.model.decoder.block[1].layer
    if parts == 3:
        seen: list[Tensor] = []
        hook = layer[1].EncDecAttention.register_forward_hook(lambda _, __, output: seen.append(output[0][0, 2]))
        runner.submit(StreamAdditions(request, 2)).result()
        hook.remove()
        torch.testing.assert_close(found.vectors[5], seen[-1])


def test_an_added_vector_is_what_a_plain_hook_sees() -> None:
    runner, seen = shared_runner("granite"), list[Tensor]()
    model = runner.engine.model
    hook = model.model.layers[1].mlp.register_forward_hook(lambda _, __, output: seen.append(output[0, 4] * 0.7))
    found = runner.submit(StreamAdditions(CaptureRequest(TEXT), 4)).result()
    hook.remove()
    (at,) = [i for i, step in enumerate(found.steps) if (step.layer, step.part) == (1, "ffn")]
    torch.testing.assert_close(found.vectors[at], seen[-1])


@pytest.mark.parametrize("build", [scaled_gemma4, scaled_llama])
def test_a_layer_that_multiplies_the_stream_has_a_step_for_that(
    build: Callable[[], PreTrainedModel],
) -> None:
    runner, request = LocalRunner(build(), byte_tokenizer(), name="scaled"), CaptureRequest(TEXT)
    found, residuals = runner.submit(StreamAdditions(request, 4)).result(), runner.capture(request).residuals
    check_sums(found, residuals, 4)
    for layer, (scale, entering) in enumerate(zip(SCALES, residuals, strict=False)):
        own = [i for i, step in enumerate(found.steps) if step.layer == layer]
        assert [found.steps[i].part for i in own] == ["scale", "attention", "ffn"]
        torch.testing.assert_close(found.vectors[own[0]], (scale - 1) * entering[4], rtol=1e-5, atol=1e-6)
    assert found.parallel == ()  # the FFN sees what attention added, before both are multiplied


def test_an_edited_forward_adds_what_the_edited_model_adds() -> None:
    runner = shared_runner("llama")
    request = CaptureRequest(TEXT, edits=tuple(ScaledHead(1, head, 0.0) for head in range(4)))
    found = runner.submit(StreamAdditions(request, 5)).result()
    check_sums(found, runner.capture(request).residuals, 5)
    (at,) = [i for i, step in enumerate(found.steps) if (step.layer, step.part) == (1, "attention")]
    assert float(found.lengths[at].max()) == 0


def test_a_layer_that_no_sum_explains_is_one_step() -> None:
    entering, a, b = (torch.randn(6, 8, generator=torch.Generator().manual_seed(i)) for i in range(3))
    events = [Event("a", torch.nn.Linear(8, 8), (entering,), a), Event("b", torch.nn.Linear(8, 8), (entering,), b)]
    assert block_path(LayerRun(entering, entering + a * b, events), None, None) is None
    found = block_path(LayerRun(entering, entering + a + b, events), None, None)
    assert found is not None
    assert (found.parts, found.parallel) == (("a", "b"), True)
    swapped = block_path(LayerRun(entering, entering + a + b, events), "b", None)
    assert swapped is not None
    assert swapped.parts == ("b", "a")
    scaled = block_path(LayerRun(entering, 0.5 * entering + 0.3 * a + 0.3 * b, events), None, None)
    assert scaled is not None
    assert (scaled.skip, *scaled.factors) == pytest.approx((0.5, 0.3, 0.3), rel=1e-5)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(NoSuchPlace):
        shared_runner("llama").submit(StreamAdditions(CaptureRequest(TEXT), 999)).result()
