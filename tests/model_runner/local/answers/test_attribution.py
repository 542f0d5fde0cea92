"""What one head adds to the logits, against the same path written out by hand for a few families in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from model_runner.capture import Capture
from model_runner.errors import NoAttribution, NoLogits, NoSuchPlace, NoWeights
from model_runner.local.answers.attribution import NOT_ADDED, NOT_LINEAR, Norm, _offset, factors_of
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from tests.model_runner.families import FAMILIES, often
from tests.model_runner.scaled import SCALES, scaled_llama
from tests.model_runner.tiny import D_HEAD, N_HEADS, N_LAYERS, VOCAB, byte_tokenizer, tiny

TEXT = "the dog chased the dog"
POSITIONS = (0, 9, 21)
# Some 60 sums of float32 numbers, logits of order 5 and parts of order 20: about 1e-5 of rounding. A head left out or
# taken twice, a bias or a mean forgotten each make a difference above 1e-2 here.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Written:
    """Where a family keeps the parts of the sum, with its factors; paths hold {layer}."""

    build: Callable[[], Any]
    layer: str
    projection: str
    mlp: str
    norm: str
    head: str
    centred: bool = False
    eps: float = 1e-6
    transposed: bool = False
    factor: float = 1.0
    logit_factor: float = 1.0


LLAMA: dict[str, Any] = {
    "layer": "model.layers.{layer}",
    "projection": "model.layers.{layer}.self_attn.o_proj",
    "mlp": "model.layers.{layer}.mlp",
    "norm": "model.norm",
    "head": "lm_head",
}
WRITTEN = {
    "llama": Written(tiny("llama", num_key_value_heads=2, attention_bias=True), **LLAMA),
    "granite": Written(
        tiny("granite", num_key_value_heads=2, residual_multiplier=0.7, logits_scaling=3.0),
        **LLAMA, factor=0.7, logit_factor=1 / 3,
    ),
    "cohere": Written(
        tiny("cohere", num_key_value_heads=2, logit_scale=0.5),
        **LLAMA, centred=True, eps=1e-5, logit_factor=0.5,
    ),
    "gpt2": Written(
        tiny("gpt2"),
        layer="transformer.h.{layer}", projection="transformer.h.{layer}.attn.c_proj", mlp="transformer.h.{layer}.mlp",
        norm="transformer.ln_f", head="lm_head", centred=True, eps=1e-5, transposed=True,
    ),
    "gpt-neox": Written(
        tiny("gpt_neox", rope_parameters={"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}),
        layer="gpt_neox.layers.{layer}", projection="gpt_neox.layers.{layer}.attention.dense",
        mlp="gpt_neox.layers.{layer}.mlp", norm="gpt_neox.final_layer_norm", head="lm_head", centred=True, eps=1e-5,
    ),
}  # fmt: skip  # one family a paragraph


@dataclass(frozen=True, eq=False)
class Hand:
    """The plain model's own parts, float64: what is written to the stream, and the way from there to the logits."""

    logits: Tensor  # (tokens, vocab)
    heads: Tensor  # (layers, tokens, heads, d_value): what goes into the output projections
    columns: Tensor  # (layers, d_model, heads * d_value): those projections
    others: Tensor  # (tokens, d_model): embedding, MLPs and the projections' biases
    stream: Tensor  # (tokens, d_model): leaving the last layer
    gain: Tensor
    bias: Tensor
    unembedding: Tensor
    written: Written

    def to_logits(self, part: Tensor, position: int) -> Tensor:
        """A part of the stream through the norm with the whole stream's statistics, without its bias."""
        stream = self.stream[position]
        if self.written.centred:
            part, stream = part - part.mean(), stream - stream.mean()
        size = (stream.square().mean() + self.written.eps).sqrt()
        return self.unembedding @ (part / size * self.gain) * self.written.logit_factor


def by_hand(written: Written) -> Hand:
    model = written.build()
    seen: dict[str, Tensor] = {}

    def keep(name: str, part: str) -> None:
        def hook(_: Any, inputs: Any, output: Any) -> None:
            kept = inputs[0] if part == "in" else output
            seen[f"{name} {part}"] = (kept[0] if isinstance(kept, tuple) else kept)[0].double()

        model.get_submodule(name).register_forward_hook(hook)

    def at(path: str) -> list[str]:
        return [path.format(layer=layer) for layer in range(N_LAYERS)]

    for layer, projection, mlp in zip(at(written.layer), at(written.projection), at(written.mlp), strict=True):
        keep(layer, "in")
        keep(projection, "in")
        keep(mlp, "out")
    keep(written.norm, "in")
    with torch.no_grad():
        logits = model(torch.tensor([byte_tokenizer()(TEXT).input_ids])).logits[0].double()
    projections = [model.get_submodule(path) for path in at(written.projection)]
    weights = [module.weight.double().T if written.transposed else module.weight.double() for module in projections]
    biases = [0.0 if module.bias is None else module.bias.double() for module in projections]
    mlps = [seen[f"{path} out"] for path in at(written.mlp)]
    norm = model.get_submodule(written.norm)
    return Hand(
        logits=logits,
        heads=torch.stack([seen[f"{path} in"].unflatten(-1, (N_HEADS, D_HEAD)) for path in at(written.projection)]),
        columns=torch.stack(weights),
        others=seen[f"{at(written.layer)[0]} in"] + written.factor * (sum(mlps) + sum(biases)),
        stream=seen[f"{written.norm} in"],
        gain=norm.weight.double(),
        bias=norm.bias.double() if getattr(norm, "bias", None) is not None else torch.zeros_like(norm.weight).double(),
        unembedding=model.get_submodule(written.head).weight.double(),
        written=written,
    )


def capture_of(build: Callable[[], Any], text: str = TEXT) -> Capture:
    return LocalRunner(build(), byte_tokenizer(), name="tiny").capture(CaptureRequest(text=text))


@pytest.fixture(params=WRITTEN)
def both(request: pytest.FixtureRequest) -> tuple[Capture, Hand]:
    written = WRITTEN[request.param]
    return capture_of(written.build), by_hand(written)


def test_one_heads_push_is_its_slice_of_the_projection_through_the_frozen_norm(both: tuple[Capture, Hand]) -> None:
    capture, hand = both
    for layer, head, position in ((0, 0, 21), (1, 2, 9), (N_LAYERS - 1, N_HEADS - 1, 0)):
        span = slice(head * D_HEAD, (head + 1) * D_HEAD)
        added = hand.written.factor * (hand.columns[layer][:, span] @ hand.heads[layer, position, head])
        expected = hand.to_logits(added, position)
        push = capture.direct_logits(layer, head, position)
        assert push.shape == (VOCAB,)
        assert push.dtype == torch.float32
        assert (push - expected).abs().max() <= TOLERANCE
        assert expected.abs().max() > 100 * TOLERANCE  # there is something to get wrong


def test_all_heads_and_all_else_that_is_written_to_the_stream_add_up_to_the_logits(both: tuple[Capture, Hand]) -> None:
    capture, hand = both
    for position in POSITIONS:
        pushes = sum(
            capture.direct_logits(layer, head, position) for layer in range(N_LAYERS) for head in range(N_HEADS)
        )
        constant = hand.unembedding @ hand.bias * hand.written.logit_factor
        total = pushes + hand.to_logits(hand.others[position], position) + constant
        assert (total - capture.logits(position)).abs().max() <= TOLERANCE
        assert (total - hand.logits[position]).abs().max() <= TOLERANCE


def test_a_push_goes_through_what_the_later_layers_multiply_the_stream_by() -> None:
    hand, capture = by_hand(Written(scaled_llama, **LLAMA)), capture_of(scaled_llama)
    for layer, head, position in ((0, 1, 21), (1, 3, 9), (2, 0, 4)):
        added = hand.columns[layer][:, head * D_HEAD : (head + 1) * D_HEAD] @ hand.heads[layer, position, head]
        expected = hand.to_logits(math.prod(SCALES[layer:]) * added, position)
        assert (capture.direct_logits(layer, head, position) - expected).abs().max() <= TOLERANCE
        assert expected.abs().max() > 100 * TOLERANCE


def test_negative_places_count_from_the_end() -> None:
    capture = capture_of(WRITTEN["llama"].build)
    assert torch.equal(capture.direct_logits(-1, -1, -1), capture.direct_logits(N_LAYERS - 1, N_HEADS - 1, 21))


def test_a_place_that_does_not_exist_is_refused() -> None:
    capture = capture_of(WRITTEN["llama"].build)
    with pytest.raises(NoSuchPlace, match="There is no position 22"):
        capture.direct_logits(0, 0, 22)
    with pytest.raises(NoSuchPlace, match="There is no head 4"):
        capture.direct_logits(0, 4, 0)


def as_loaded(model: Any, dtype: torch.dtype) -> Any:
    """The model in this dtype, but for what its own code keeps in float32 however it is loaded."""
    kept = tuple(model._keep_in_fp32_modules_strict or ())
    for name, weight in model.named_parameters():
        if not any(part in name for part in kept):
            weight.data = weight.data.to(dtype)
    return model


REFUSED = {
    "gemma2", "gemma3", "olmo2", "olmo3", "glm4", "bert", "roberta", "distilbert", "modernbert", "qwen3-next", "albert",
    "diffllama", "hrm-text", "axk2", "dots3-note", "hy-v4", "doge", "doge-wide", "inkling", "inkling2",
}  # fmt: skip


@pytest.mark.table
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("name", often(family.name for family in FAMILIES))
def test_every_family_has_a_push_or_says_why_not(name: str, dtype: torch.dtype) -> None:
    family: Any = next(one for one in FAMILIES if one.name == name)
    capture = capture_of(lambda: as_loaded(family.build(), dtype))
    layer = family.attention_layers[-1]
    if family.name in REFUSED or family.own_code:
        with pytest.raises(NoAttribution, match="cannot be separated in this model"):
            capture.direct_logits(layer, 0, -1)
    else:
        assert capture.direct_logits(layer, 0, -1).isfinite().all()


def test_a_norm_between_attention_and_stream_is_refused_with_that_reason() -> None:
    gemma2 = next(family for family in FAMILIES if family.name == "gemma2")
    with pytest.raises(NoAttribution) as refusal:
        capture_of(gemma2.build).direct_logits(0, 0, -1)
    assert refusal.value.values == {"reason": NOT_ADDED}


def test_a_layer_without_attention_has_no_push() -> None:
    jamba = next(family for family in FAMILIES if family.name == "jamba")
    with pytest.raises(NoWeights):
        capture_of(jamba.build).direct_logits(0, 0, -1)


def test_a_model_without_an_output_layer_has_no_push() -> None:
    runner = LocalRunner(tiny("llama")(), byte_tokenizer(), name="tiny", has_head=False)
    with pytest.raises(NoLogits):
        runner.capture(CaptureRequest(text=TEXT)).direct_logits(0, 0, -1)


def test_a_soft_cap_on_the_logits_is_not_linear() -> None:
    matrix = torch.randn(VOCAB, 16, generator=torch.Generator().manual_seed(0))
    hidden = torch.randn(4, 16, generator=torch.Generator().manual_seed(1))
    assert isinstance(_offset(lambda vector: matrix @ vector + 2.0, hidden), Tensor)
    assert _offset(lambda vector: 30 * torch.tanh(matrix @ vector / 30), hidden) == NOT_LINEAR
    assert _offset(lambda vector: (matrix @ vector).relu(), hidden) == NOT_LINEAR


def test_factors_are_found_only_where_the_sum_is_the_whole_story() -> None:
    stream, projected, other = torch.randn(3, 1, 4, 32, generator=torch.Generator().manual_seed(0))
    assert factors_of(stream + projected + other, [stream, projected, other]) == [1.0, 1.0, 1.0]
    scaled = factors_of(stream + 0.3 * (projected + other), [stream, projected, other])
    assert scaled == pytest.approx([1.0, 0.3, 0.3], abs=1e-6)
    assert factors_of((stream + projected + other).square(), [stream, projected, other]) is None
    # The last part alone explains the total, as the output of a norm after the sum would: no proof for the others.
    assert factors_of(other, [stream, projected, other]) is None


def test_a_norm_of_another_kind_is_refused() -> None:
    stream = torch.randn(16, generator=torch.Generator().manual_seed(0))
    norm = Norm(torch.ones(16), torch.zeros(16), torch.finfo(torch.float32).eps)
    with pytest.raises(NoAttribution, match="no LayerNorm or RMSNorm"):
        norm.frozen(stream, stream, stream.tanh())
