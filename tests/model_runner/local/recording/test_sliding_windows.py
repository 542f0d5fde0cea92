"""Longformer and LED's encoder: attention in sliding windows, against the weights that the models return themselves."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM, AutoModelForSeq2SeqLM

from attention.masks import Band
from model_runner.capture import Capture
from model_runner.edits import OfAttention, ScaledHead
from model_runner.errors import CannotContinue, EditNotPossible, NoRotation
from model_runner.local.loading.known_families import can_be_captured
from model_runner.local.runner import LocalRunner
from model_runner.mask_rule import MaskRule
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.wire import from_bytes, to_bytes
from scripts.families.trying import whole_rows
from tests.model_runner.tiny import BOS, byte_tokenizer, place, tiny

TEXT = "the dog chased a squirrel, for it ran"
WINDOWS = [4, 8, 4]  # of each layer, to both sides together; the text is padded to whole ones of the longest
BART = {"d_model": 32, "encoder_layers": 3, "decoder_layers": 3, "encoder_attention_heads": 4}
LONG = {"max_encoder_position_embeddings": 512, "max_decoder_position_embeddings": 512}
FFN = {"decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48}
longformer = tiny("longformer", AutoModelForMaskedLM, attention_window=WINDOWS, max_position_embeddings=800)
led = tiny("led", AutoModelForSeq2SeqLM, attention_window=WINDOWS, decoder_start_token_id=BOS, **BART, **LONG, **FFN)


@cache
def runner(dtype: torch.dtype = torch.float32) -> LocalRunner:
    return LocalRunner(place(longformer(), "cpu", dtype), byte_tokenizer(), name="longformer", device="cpu")


@cache
def capture(text: str = TEXT, dtype: torch.dtype = torch.float32) -> Capture:
    return runner(dtype).capture(CaptureRequest(text))


@cache
def translator() -> LocalRunner:
    return LocalRunner(led(), byte_tokenizer(), name="led", device="cpu")


def ids(found: Capture) -> Tensor:
    return torch.tensor([[token.id for token in found.tokens]])


def by_loops(banded: Tensor) -> Tensor:
    """What a row of a window says, column by column: the middle one is the token itself."""
    heads, n, columns = banded.shape
    whole = torch.zeros(heads, n, n)
    for i in range(n):
        for column in range(columns):
            if 0 <= i + column - columns // 2 < n:
                whole[:, i, i + column - columns // 2] = banded[:, i, column]
    return whole


@pytest.mark.parametrize("text", ["a", "abcdefg", TEXT, TEXT * 6])
def test_weights_logits_and_streams_are_the_models_own(text: str) -> None:
    found = capture(text)
    with torch.no_grad():
        own = longformer()(ids(found), output_attentions=True, output_hidden_states=True, return_dict=True)
    for layer, weights in enumerate(own.attentions):
        expected = by_loops(weights[0])
        torch.testing.assert_close(found.layer_weights(layer, slice(0, len(text))), expected, atol=1e-5, rtol=0)
        torch.testing.assert_close(whole_rows(weights[0], len(text)), expected)
        assert found.verify(layer).ok
        torch.testing.assert_close(found.residual(layer), own.hidden_states[layer][0], atol=1e-4, rtol=1e-4)
    for at in (0, -1):
        torch.testing.assert_close(found.logits(at), own.logits[0, at], atol=1e-4, rtol=1e-4)


def test_queries_keys_and_values_are_what_the_projections_made() -> None:
    found = capture()
    own: Any = longformer().get_submodule("longformer.encoder.layer.1.attention.self")
    for ours, part in ((found.q(1), own.query), (found.k(1), own.key), (found.v(1), own.value)):
        made = part(found.residual(1)).detach()
        torch.testing.assert_close(ours, made.unflatten(-1, (4, 8)).transpose(0, 1), atol=1e-5, rtol=1e-5)
    with pytest.raises(NoRotation):
        found.q_unrotated(1)


def test_each_layer_says_how_far_it_looks() -> None:
    found = capture()
    assert tuple(map(found.layer_kind, range(3))) == ("sliding",) * 3
    for layer, window in enumerate(WINDOWS):
        seen = (found.weights(layer, 1) > 0).nonzero()
        assert int((seen[:, 0] - seen[:, 1]).abs().max()) == window // 2
        assert found.record(layer).window == window // 2 + 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_the_badge_says_so_and_sees_a_hundredth_and_another_window(dtype: torch.dtype) -> None:
    found = capture(TEXT * 6, dtype)
    for layer in range(3):
        assert found.verify(layer).ok, found.verify(layer)
    record = found.record(1)
    wrong: list[dict[str, Any]] = [{part: getattr(record, part) * 1.01} for part in ("k", "v", "scale")]
    wrong += [{"mask": MaskRule(Band(reach))} for reach in (3, 5)]
    for fields in wrong:
        records = (found.record(0), dataclasses.replace(record, **fields), found.record(2))
        assert not dataclasses.replace(found, records=records, _lse={}).verify(1).ok, list(fields)


def test_a_capture_goes_through_bytes_and_keeps_nothing_of_the_padding() -> None:
    found = capture()
    again = from_bytes(to_bytes(found))
    assert torch.equal(again.layer_weights(1, slice(0, 20)), found.layer_weights(1, slice(0, 20)))
    assert {len(one) for one in (*found.residuals, found.hidden)} == {len(TEXT)}
    assert found.record(0).k.shape[1] == len(TEXT)


def test_edits_and_growing_are_refused_in_a_sentence_and_the_next_capture_is_whole() -> None:
    with pytest.raises(EditNotPossible, match="its attention does not go through transformers' attention interface"):
        runner().capture(CaptureRequest(TEXT + "!", edits=(ScaledHead(1, 1, 0.0),)))
    assert runner().capture(CaptureRequest(TEXT + "!")).verify(1).ok
    with pytest.raises(CannotContinue):
        list(runner().generate(GenerateRequest(TEXT, max_new_tokens=2)))


def test_three_attentions_of_two_texts_are_the_models_own() -> None:
    found = translator().capture(CaptureRequest(TEXT, target="a dog ran"))
    every = [found.attention(name) for name in ("encoder", "decoder", "cross")]
    given = {"input_ids": ids(every[0]), "decoder_input_ids": ids(every[1])}
    with torch.no_grad():
        own = led()(**given, output_attentions=True, output_hidden_states=True, use_cache=False, return_dict=True)
    torch.testing.assert_close(every[1].logits(-1), own.logits[0, -1], atol=1e-4, rtol=1e-4)
    for layer in range(3):
        expected = by_loops(own.encoder_attentions[layer][0]), own.decoder_attentions[layer][0]
        for one, weights in zip(every, (*expected, own.cross_attentions[layer][0]), strict=True):
            ours = one.layer_weights(layer, slice(0, len(one.tokens)))
            torch.testing.assert_close(ours, weights, atol=1e-5, rtol=0)
            assert one.verify(layer).ok
        stream = own.encoder_hidden_states[layer][0]
        torch.testing.assert_close(every[0].residual(layer), stream, atol=1e-4, rtol=1e-4)


def test_leds_text_goes_on_and_its_heads_stay_as_they_are() -> None:
    steps = list(translator().generate(GenerateRequest(TEXT, 3, target="a dog")))
    assert steps[-1].capture.attention("encoder").verify(1).ok
    for attention in ("encoder", "decoder"):
        edit = OfAttention(attention, ScaledHead(0, 1, 0.0))
        with pytest.raises(EditNotPossible, match="does not go through transformers' attention interface"):
            translator().capture(CaptureRequest(TEXT, target="a dog", edits=(edit,)))


def test_the_preview_says_that_they_can_be_captured() -> None:
    assert can_be_captured({"model_type": "longformer"})
    assert can_be_captured({"model_type": "led"})
