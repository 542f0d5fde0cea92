"""What a user tries first: a folder's path, a text, token ids, all heads of a layer, its matrices."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest, GenerateRequest, load_runner, memory
from model_runner.errors import (
    NoSuchMatrix,
    NoSuchPlace,
    NotSeparable,
    TextAndIds,
    TooManyIds,
    WeightsExceedMemory,
)
from model_runner.python_lines import request_line
from tests.model_runner.cases import TEXT, shared_runner
from tests.model_runner.tiny import BOS, MAX_TOKENS, N_HEADS, byte_tokenizer


def ids_of(text: str) -> list[int]:
    return byte_tokenizer()(text).input_ids


def test_a_path_is_a_folder(whole_folder, monkeypatch):
    monkeypatch.chdir(whole_folder.parent)
    runner = load_runner(type(whole_folder)(whole_folder.name))
    assert runner.info.name == str(whole_folder)
    assert torch.equal(runner.capture(TEXT).hidden, load_runner(str(whole_folder)).capture(TEXT).hidden)


def test_a_plain_text_is_a_request_of_it():
    runner = shared_runner("llama")
    assert runner.capture(TEXT) is runner.capture(CaptureRequest(text=TEXT))


@pytest.mark.parametrize("name", ["llama", "bert", "default", "encoder"])
def test_token_ids_are_read_as_they_are(name):
    runner = load_runner(name) if name in ("default", "encoder") else shared_runner(name)
    text = "The dog chased it." if name in ("default", "encoder") else TEXT
    own = runner.capture(text)
    capture = runner.capture(CaptureRequest(input_ids=[token.id for token in own.tokens]))
    assert torch.equal(capture.hidden, own.hidden)
    assert [token.text for token in capture.tokens] == [token.text for token in own.tokens]
    assert [token.special for token in capture.tokens] == [token.special for token in own.tokens]
    for token in capture.tokens:
        assert token.special or token.end > token.start
    assert capture.text.lower().replace(" ", "") == text.lower().replace(" ", "")


def test_token_ids_go_on_as_their_text_does():
    runner = shared_runner("llama")
    ids = (BOS, *ids_of("the dog"))
    of_ids = list(runner.generate(GenerateRequest(input_ids=ids, max_new_tokens=3)))
    by_hand = list(ids)
    for step in of_ids:
        with torch.no_grad():
            by_hand.append(int(runner.engine.model(input_ids=torch.tensor([by_hand])).logits[0, -1].argmax()))
        assert step.token.id == by_hand[-1]
    again = runner.capture(of_ids[-1].capture.request)
    assert [token.id for token in again.tokens] == [token.id for token in of_ids[-1].capture.tokens]


def test_what_is_wrong_with_token_ids_is_told():
    runner = shared_runner("llama")
    with pytest.raises(TextAndIds, match="text or input_ids"):
        runner.capture(CaptureRequest(text="a", input_ids=[1]))
    with pytest.raises(NoSuchPlace, match="token id 999"):
        runner.capture(CaptureRequest(input_ids=[1, 999]))
    with pytest.raises(TooManyIds, match=f"{MAX_TOKENS + 1} token ids"):
        runner.capture(CaptureRequest(input_ids=[1] * (MAX_TOKENS + 1)))
    request = CaptureRequest(input_ids=[1, 2])
    assert request_line(request) == "CaptureRequest(input_ids=(1, 2))"
    assert {request: 1}[CaptureRequest(input_ids=(1, 2))] == 1


def test_the_logits_are_those_of_the_last_position():
    capture = shared_runner("llama").capture(TEXT)
    assert torch.equal(capture.logits(), capture.logits(len(capture.tokens) - 1))


@pytest.mark.parametrize("name", ["llama", "gpt-oss", "deepseek-v3.2"])
def test_the_weights_of_a_layer_are_those_of_its_heads(name, monkeypatch):
    capture = shared_runner(name).capture(TEXT * 5)
    whole = capture.weights(-1)
    assert whole.shape == (N_HEADS, len(capture.tokens), len(capture.tokens))
    for head in range(N_HEADS):
        torch.testing.assert_close(whole[head], capture.weights(-1, head))
    tile: Any = {"queries": slice(3, 140), "keys": slice(-9, None)}
    torch.testing.assert_close(capture.weights(-1, **tile), whole[:, 3:140, -9:])
    monkeypatch.setattr(memory, "available", lambda _: 1000)
    with pytest.raises(WeightsExceedMemory, match="all heads of layer 2 need"):
        capture.weights(-1)


def heads_out(capture: Any, layer: int) -> Tensor:
    v = capture.v(layer).repeat_interleave(capture.record(layer).group, dim=0)
    return (capture.weights(layer) @ v.float()).transpose(0, 1)


@pytest.mark.parametrize("name", ["llama", "gpt2", "gpt-neox", "gemma2", "mixtral", "opt"])
def test_what_a_layer_adds_is_its_attention_and_its_feed_forward_part(name):
    capture = shared_runner(name).capture(TEXT)
    for layer in range(capture.n_layers):
        added = capture.attention_out(layer) + capture.mlp_out(layer)
        torch.testing.assert_close(added, capture.residual(layer + 1) - capture.residual(layer), atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(capture.z(layer).float(), heads_out(capture, layer), atol=1e-4, rtol=1e-4)


def test_the_parts_of_a_layer_are_told_apart_or_it_is_said_that_they_are_not():
    llama = shared_runner("llama")
    made: list[Tensor] = []
    handle = llama.engine.model.model.layers[1].self_attn.register_forward_hook(lambda *args: made.append(args[2][0]))
    attention = llama.capture(TEXT).attention_out(-2)
    handle.remove()
    torch.testing.assert_close(attention, made[-1][0].float())
    with pytest.raises(NotSeparable, match="cannot be split"):
        shared_runner("doge").capture(TEXT).mlp_out(0)


def as_heads(weight: Tensor, heads: int) -> Tensor:
    """Of a Linear's weight [out, in] that makes these heads' vectors: [heads, in, d_head]."""
    return weight.detach().unflatten(0, (heads, -1)).transpose(1, 2)


def test_matrices_are_those_of_the_models_own_modules():
    for name in ("llama", "qwen3", "gemma2"):
        runner = shared_runner(name)
        own = runner.engine.model.model.layers[1].self_attn
        for letter, heads in (("q", runner.info.n_heads), ("k", 2), ("v", 2)):
            found = getattr(runner, f"W_{letter.upper()}")(1)
            torch.testing.assert_close(found, as_heads(getattr(own, f"{letter}_proj").weight, heads))
        out = own.o_proj.weight.detach().T.unflatten(0, (runner.info.n_heads, -1))
        torch.testing.assert_close(runner.W_O(1), out)
    runner = shared_runner("gpt2")
    own = runner.engine.model.transformer.h[2].attn
    q, k, v = own.c_attn.weight.detach().T.chunk(3)
    for found, weight in ((runner.W_Q(-1), q), (runner.W_K(-1), k), (runner.W_V(-1), v)):
        torch.testing.assert_close(found, as_heads(weight, N_HEADS))
    capture = runner.capture(TEXT)
    out = torch.einsum("thd,hdm->tm", capture.z(2), runner.W_O(2)) + own.c_proj.bias.detach()
    torch.testing.assert_close(out, capture.attention_out(2), atol=1e-4, rtol=1e-4)


def test_a_matrix_that_no_layer_has_is_told():
    runner = shared_runner("deepseek-v3")
    with pytest.raises(NoSuchMatrix, match="Layer 2 has no W_K"):
        runner.W_K(-1)
    with pytest.raises(NoSuchPlace, match="layer 3"):
        runner.W_Q(3)
