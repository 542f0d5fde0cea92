"""Models whose code does not ask transformers' interface: what is heard of their products, against their weights."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM

from model_runner.capture import Capture
from model_runner.edits import ScaledHead
from model_runner.errors import CannotContinue, EditNotPossible, NotCapturable, NotRecoverable
from model_runner.local.recording.matmul_tracer import MatmulTracer
from model_runner.local.runner import LocalRunner
from model_runner.positions import layout_of
from model_runner.relative_bias import RelativeBias
from model_runner.request import CaptureRequest, GenerateRequest
from scripts.families.small import small_model
from tests.model_runner.tiny import byte_tokenizer, place, tiny

TEXT = "the dog chased a squirrel, for it ran"
EAGER = {"attn_implementation": "eager"}
XLM = {"emb_dim": 32, "n_words": 259, "n_layers": 3}
MADE = {
    "bloom": tiny("bloom"),  # ALiBi by the key's place
    "mpt": tiny("mpt", d_model=32, n_heads=4, n_layers=3),  # ALiBi from the end
    "falcon-alibi": tiny("falcon", alibi=True, **EAGER),
    "mpnet": tiny("mpnet", AutoModelForMaskedLM),  # buckets of distances, learned
    "roformer": tiny("roformer", AutoModelForMaskedLM),
    "rembert": tiny("rembert", AutoModelForMaskedLM, input_embedding_size=16, output_embedding_size=16),
    "xlm": tiny("xlm", AutoModelForMaskedLM, **XLM),
    "gpt-neox-japanese": tiny("gpt_neox_japanese"),
    "openai-gpt": tiny("openai-gpt", n_embd=32, n_layer=3, n_head=4, n_positions=600),
    "xglm": tiny("xglm", d_model=32, attention_heads=4, num_layers=3, ffn_dim=48),
}
BIASED = ("bloom", "mpt", "falcon-alibi", "mpnet")


@cache
def runner(name: str) -> LocalRunner:
    return LocalRunner(MADE[name](), byte_tokenizer(), name=name, device="cpu")


@cache
def capture(name: str) -> Capture:
    return runner(name).capture(CaptureRequest(TEXT))


@cache
@torch.no_grad()
def plain(name: str) -> Any:
    """The model's own weights, logits and streams: one that nothing of ours has touched."""
    ids = torch.tensor([[token.id for token in capture(name).tokens]])
    return MADE[name]()(ids, output_attentions=True, output_hidden_states=True, return_dict=True)


@pytest.mark.parametrize("name", MADE)
def test_weights_logits_and_streams_are_the_models_own(name: str) -> None:
    found, own = capture(name), plain(name)
    assert len(own.attentions) == found.n_layers
    for layer, weights in enumerate(own.attentions):
        every = found.layer_weights(layer, slice(0, len(found.tokens)))
        torch.testing.assert_close(every, weights[0], atol=1e-5, rtol=0)
        assert float(weights.std()) > 0.003  # even weights would prove nothing
    for at in (0, -1):
        torch.testing.assert_close(found.logits(at), own.logits[0, at], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found.residual(1), own.hidden_states[1][0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", MADE)
def test_the_badge_says_so_and_sees_a_hundredth(name: str) -> None:
    found = capture(name)
    for layer in range(found.n_layers):
        assert found.verify(layer).ok
    record = found.record(1)
    wrong: list[dict[str, Any]] = [{part: getattr(record, part) * 1.01} for part in ("k", "v", "scale")]
    if isinstance(record.bias, RelativeBias):
        wrong.append({"bias": dataclasses.replace(record.bias, values=record.bias.values * 1.01)})
    for fields in wrong:
        records = (found.record(0), dataclasses.replace(record, **fields), found.record(2))
        assert not dataclasses.replace(found, records=records, _lse={}).verify(1).ok, list(fields)


@pytest.mark.parametrize("name", MADE)
def test_a_bias_is_there_where_the_model_has_one(name: str) -> None:
    record = capture(name).record(1)
    assert (record.bias is not None) is (name in BIASED)
    if name in ("bloom", "mpt"):  # 4 heads: slopes 1/4, 1/16, 1/64, 1/256; back by one place costs one of them
        assert isinstance(record.bias, RelativeBias)
        first = -record.bias.first
        back = record.bias.values[:, first] - record.bias.values[:, first - 1]
        torch.testing.assert_close(back, torch.tensor([2**-2, 2**-4, 2**-6, 2**-8]), atol=1e-5, rtol=1e-4)


SCALES = {"mpnet": 8**-0.5, "bloom": 8**-0.5, "mpt": 8**-0.5, "falcon-alibi": 8**-0.5, "xglm": 1.0, "rembert": 8**-0.5}


@pytest.mark.parametrize("std", [0.001, 0.02, 3.0])  # 0.02: weights as transformers begins with them
@pytest.mark.parametrize("name", SCALES)
def test_small_and_large_weights_hide_no_scale(name: str, std: float) -> None:
    """Small ones drown q·k in the roundings of ALiBi; of large ones many scores are as low as if they were masked."""

    def made() -> Any:
        model = MADE[name]()
        torch.manual_seed(0)
        for module in model.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=std)
                for bias in (one for one in module.parameters() if one.dim() == 1):
                    nn.init.zeros_(bias)
        return model

    found = LocalRunner(made(), byte_tokenizer(), name=name, device="cpu").capture(CaptureRequest(TEXT))
    ids = torch.tensor([[token.id for token in found.tokens]])
    with torch.no_grad():
        own = made()(ids, output_attentions=True, return_dict=True)
    for layer, weights in enumerate(own.attentions):
        record = found.record(layer)
        assert record.scale == SCALES[name]
        assert (record.bias is not None) is (name in BIASED)
        assert found.verify(layer).ok
        rounded = 4e-7 * float(record.q.norm(dim=-1).max() * record.k.norm(dim=-1).max()) * record.scale
        every = found.layer_weights(layer, slice(0, len(found.tokens)))
        torch.testing.assert_close(every, weights[0], atol=1e-5 + rounded, rtol=0)


def test_a_rotation_that_is_read_is_undone_and_one_that_is_not_is_said() -> None:
    found, model = capture("gpt-neox-japanese"), MADE["gpt-neox-japanese"]()
    projected: list[Tensor] = []
    hook: Any = lambda _module, _given, made: projected.append(made[0])  # noqa: E731
    model.get_submodule("gpt_neox_japanese.layers.1.attention.query_key_value").register_forward_hook(hook)
    with torch.no_grad():
        model(torch.tensor([[token.id for token in found.tokens]]))
    q = projected[0].unflatten(-1, (4, 3, 8))[:, :, 0].transpose(0, 1)
    torch.testing.assert_close(found.q_unrotated(1), q, atol=1e-5, rtol=1e-4)


def roformer() -> Any:
    """With the sines and cosines of its kind, where tiny models have noise."""
    model: Any = MADE["roformer"]()
    model.roformer.encoder.embed_positions.weight.copy_(model.roformer.encoder.embed_positions.create_weight())
    return model


SELF_TURNED = {
    "roformer": (torch.no_grad()(roformer), "roformer.encoder.layer.1.attention.self.{}", ("query", "key"), 8),
    "gptj": (tiny("gptj", rotary_dim=4), "transformer.h.1.attn.{}", ("q_proj", "k_proj"), 4),
    "gptj-whole": (tiny("gptj", rotary_dim=8), "transformer.h.1.attn.{}", ("q_proj", "k_proj"), 8),
}


@pytest.mark.parametrize("name", SELF_TURNED)
@pytest.mark.parametrize("text", ["ab", TEXT, TEXT * 8])
def test_a_rotation_in_its_own_code_is_read_off_the_vectors_and_undone(name: str, text: str) -> None:
    build, path, modules, width = SELF_TURNED[name]
    found, model = LocalRunner(build(), byte_tokenizer(), name=name).capture(CaptureRequest(text)), build()
    projected: list[Tensor] = []
    for part in modules:
        model.get_submodule(path.format(part)).register_forward_hook(lambda _m, _g, made: projected.append(made[0]))
    with torch.no_grad():
        model(torch.tensor([[token.id for token in found.tokens]]))
    for mine, its in zip((found.q_unrotated(1), found.k_unrotated(1)), projected, strict=True):
        torch.testing.assert_close(mine, its.unflatten(-1, (4, 8)).transpose(0, 1), atol=1e-4, rtol=1e-4)
    layout = layout_of(found, 1)
    assert (layout.layout, layout.start, layout.stop) == ("interleaved", 0, width)
    theta = torch.tensor([10000 ** (-2 * i / width) for i in range(width // 2)], dtype=torch.float64)
    torch.testing.assert_close(layout.theta, theta, atol=0, rtol=2e-6 if len(text) > 2 else 1e-3)


def test_what_is_no_rotation_of_positions_is_not_taken_for_one() -> None:
    for found in (
        capture("roformer"),  # its table is noise
        LocalRunner(place(tiny("gptj", rotary_dim=4)(), "cpu", torch.bfloat16), byte_tokenizer(), name="g").capture(
            CaptureRequest(TEXT)
        ),
    ):
        with pytest.raises(NotRecoverable, match="its own code changes queries after their projection"):
            found.q_unrotated(1)


@pytest.mark.parametrize("name", ["gpt-neox-japanese", "xglm", "openai-gpt"])
def test_a_text_goes_on_as_transformers_own_or_it_is_said_why_not(name: str) -> None:
    request = GenerateRequest(TEXT, max_new_tokens=6)
    if name == "openai-gpt":
        with pytest.raises(CannotContinue):
            list(runner(name).generate(request))
        return
    steps = list(runner(name).generate(request))
    ids = torch.tensor([[token.id for token in capture(name).tokens]])
    own = MADE[name]().generate(ids, max_new_tokens=6, do_sample=False)
    assert [step.token.id for step in steps] == own[0, ids.shape[1] :].tolist()
    last = steps[-1].capture
    whole = runner(name).capture(last.request)
    for layer in range(3):
        assert last.verify(layer).ok
        torch.testing.assert_close(last.record(layer).q, whole.record(layer).q, atol=1e-4, rtol=1e-4)


def test_a_bias_is_not_known_of_a_text_that_grows() -> None:
    with pytest.raises(CannotContinue, match="it adds a bias to its scores"):
        list(runner("bloom").generate(GenerateRequest(TEXT, max_new_tokens=2)))


def test_an_edit_is_refused_with_the_reason_and_the_next_capture_is_whole() -> None:
    with pytest.raises(EditNotPossible, match="its attention does not go through transformers' attention interface"):
        runner("bloom").capture(CaptureRequest(TEXT + "!", edits=(ScaledHead(1, 1, 0.0),)))
    assert runner("bloom").capture(CaptureRequest(TEXT + "!")).verify(1).ok


def test_only_a_softmax_of_a_product_that_meets_values_is_attention() -> None:
    q, k, v = torch.randn(3, 1, 2, 5, 4).unbind(0)
    with MatmulTracer() as products:
        torch.matmul(torch.softmax(torch.randn(1, 2, 5, 5), dim=-1), v)  # of no product
        torch.softmax(q @ k.transpose(2, 3), dim=-1)  # of no values
        nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        weights = torch.softmax((q @ k.transpose(2, 3)) * 0.3, dim=-1)
        made = weights @ v
    whole, written = products.traced
    torch.testing.assert_close(whole.scores[:, 3, :4], (q @ k.transpose(2, 3))[0, :, 3, :4] / 2)
    assert whole.scores[:, 3, 4].isneginf().all()
    assert torch.equal(written.output, made[0])
    assert torch.equal(written.k, k[0])


def test_what_is_added_to_what_attention_returned_is_the_cause_of_a_refusal() -> None:
    """Nyströmformer's convolution of values is known; of a module that is not known nothing of the kind is believed."""
    model: Any = tiny("nystromformer", AutoModelForMaskedLM)()
    for module in model.modules():
        if hasattr(module, "conv_kernel_size"):
            module.__class__ = type("UnknownAttention", (type(module),), {})
    with pytest.raises(NotCapturable, match="its own code changes what its attention returned"):
        LocalRunner(model, byte_tokenizer(), name="with it")


@pytest.mark.parametrize("blocks", [[2, 2], [2]], ids=["merging", "one-block"])
def test_funnel_is_refused_for_merging_tokens_only_where_it_does(blocks: list[int]) -> None:
    model = small_model("masked", "funnel", {"block_sizes": blocks})
    with torch.no_grad():
        states = model.funnel.encoder(torch.randn(1, 9, model.config.d_model), torch.ones(1, 9)).last_hidden_state
    merges = states.shape[1] < 9
    assert merges == (len(blocks) > 1)
    said = "it merges neighbouring tokens" if merges else "its scores hold more than q·k"
    with pytest.raises(NotCapturable, match=said):
        LocalRunner(model, byte_tokenizer(), name="funnel")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_nystromformers_map_is_its_softmax_and_its_convolution_of_values_stands_beside_it(
    dtype: torch.dtype,
) -> None:
    """As it is published: each token is a landmark of its own, so that nothing is approximated."""
    build = tiny("nystromformer", AutoModelForMaskedLM, conv_kernel_size=3)
    held = LocalRunner(place(build(), "cpu", dtype), byte_tokenizer(), name="nystromformer")
    capture, model = held.capture(CaptureRequest(TEXT)), place(build(), "cpu", dtype)
    n_tokens, seen = len(capture.tokens), list[Tensor]()
    for layer in model.get_submodule("nystromformer.encoder.layer").children():
        layer.get_submodule("attention.self").register_forward_hook(
            lambda _module, _args, output: seen.append(output[0][0])
        )
    with torch.no_grad():
        own = model(torch.tensor([[token.id for token in capture.tokens]]), output_attentions=True)
    close = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(capture.logits(-1), own.logits[0, -1].float(), atol=close * 10, rtol=close)
    for layer in range(capture.n_layers):
        assert capture.verify(layer).ok, capture.verify(layer)
        weights = capture.layer_weights(layer, slice(0, n_tokens))
        torch.testing.assert_close(weights, own.attentions[layer][0].float(), atol=close, rtol=0)
        conv: Any = model.get_submodule(f"nystromformer.encoder.layer.{layer}.attention.self.conv")
        v = capture.v(layer).float()
        made = weights @ v
        for head in range(len(v)):
            taps = conv.weight[head, 0, :, 0].float()
            for token in range(n_tokens):
                for tap, factor in enumerate(taps.tolist()):
                    if 0 <= (other := token + tap - len(taps) // 2) < n_tokens:
                        made[head, token] += factor * v[head, other]
        torch.testing.assert_close(made.transpose(0, 1).flatten(1), seen[layer].float(), atol=close * 3, rtol=close)
