"""T5Gemma 2's one softmax over what is written and what is read, as two maps: whole together, changed apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers.models.t5gemma2 import modeling_t5gemma2 as theirs

from analysis.joined import joined
from analysis.sinks import REST_IN, n_elsewhere, sink_words
from model_runner import CaptureRequest, wire
from model_runner.edits import Blocked, Int8Cache, KeepLast, MeanHead, OfAttention, OneEdit, ScaledHead, SharpenedHead
from model_runner.errors import EditNotPossible, NotCapturable
from model_runner.local.recording.merged_attention import MERGED, OF_BOTH
from model_runner.local.runner import LocalRunner
from model_runner.questions import WhichHeads
from tests.model_runner.local.recording.test_encoder_decoders import FAMILIES, SOURCE, TARGET, ids_of, runner, three
from tests.model_runner.tiny import BOS, byte_tokenizer

pytestmark = pytest.mark.table

LAYER, HEAD = 1, 2
REQUEST = CaptureRequest(SOURCE, target=TARGET)
N_READ, N_WRITTEN = len(ids_of(SOURCE)), len(ids_of(TARGET)) + 1
SIDES = {"decoder": slice(0, N_WRITTEN), "cross": slice(N_WRITTEN, None)}


@cache
def shared() -> LocalRunner:
    return runner("t5gemma2")


def by_weights(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any, Tensor], Tensor]) -> Tensor:
    """The logits of plain transformers where the weights of the merged softmax are changed: ``change`` is told the
    module, and the weights ``[heads, queries, keys]`` before they meet the values, and gives others.
    """
    eager = theirs.eager_attention_forward

    def changed(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **options: Any) -> Any:
        output, weights = eager(module, query, key, value, mask, **options)
        if isinstance(module, theirs.T5Gemma2MergedAttention) and module.layer_idx == LAYER:
            weights = change(module, weights[0].clone())[None]
            output = (weights @ theirs.repeat_kv(value, module.num_key_value_groups)).transpose(1, 2)
        return output, weights

    monkeypatch.setattr(theirs, "eager_attention_forward", changed)
    model: Any = FAMILIES["t5gemma2"]()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        written = torch.tensor([[BOS, *ids_of(TARGET)]])
        return model(input_ids=torch.tensor([ids_of(SOURCE)]), decoder_input_ids=written).logits[0]


def logits(edit: OneEdit, attention: str) -> Tensor:
    capture = shared().capture(replace(REQUEST, edits=(OfAttention(attention, edit),)))
    assert all(one.verify(layer).ok for one in three(capture) for layer in range(one.n_layers))
    return torch.stack([capture.logits(i) for i in range(len(capture.tokens))])


def test_the_rows_of_the_two_maps_sum_to_one_together_and_neither_to_one_alone():
    _, own, across = three(shared().capture(REQUEST))
    for layer in range(own.n_layers):
        sums = [one.layer_weights(layer, slice(0, N_WRITTEN)).sum(-1) for one in (own, across)]
        torch.testing.assert_close(sums[0] + sums[1], torch.ones_like(sums[0]), atol=1e-5, rtol=0)
        assert 0.02 < float(sums[0].mean()) < 0.98
        torch.testing.assert_close(own.lse(layer), across.lse(layer), atol=1e-5, rtol=0)  # of the whole row


@pytest.mark.parametrize("attention", SIDES)
def test_a_head_without_one_text_adds_what_it_takes_from_the_other(monkeypatch: pytest.MonkeyPatch, attention: str):
    def without(_: Any, weights: Tensor) -> Tensor:
        weights[HEAD, :, SIDES[attention]] = 0
        return weights

    expected = by_weights(monkeypatch, without)
    torch.testing.assert_close(logits(ScaledHead(LAYER, HEAD), attention), expected, rtol=1e-5, atol=5e-5)
    assert (expected - logits(ScaledHead(LAYER, HEAD, 1.0), attention)).abs().max() > 1e-3
    answers = shared().submit(WhichHeads(replace(REQUEST, attention=attention), LAYER, 101)).result()
    plain = torch.log_softmax(shared().capture(REQUEST).logits(-1), -1)[101]
    assert float(answers.ablated[HEAD]) == pytest.approx(float(expected[-1].log_softmax(-1)[101] - plain), abs=1e-4)


@pytest.mark.parametrize("attention", SIDES)
def test_what_a_hidden_cell_had_goes_to_the_keys_of_both_texts(monkeypatch: pytest.MonkeyPatch, attention: str):
    def hidden(_: Any, weights: Tensor) -> Tensor:
        first = SIDES[attention].start
        weights[HEAD, 3, [first, first + 2]] = 0
        return weights / weights.sum(-1, keepdim=True)

    edit = Blocked(((3, 0), (3, 2)), (LAYER,), (HEAD,))
    torch.testing.assert_close(logits(edit, attention), by_weights(monkeypatch, hidden), rtol=1e-5, atol=5e-5)


def test_a_mean_and_a_smaller_cache_are_of_one_text_and_a_temperature_of_one_is_refused():
    plain = logits(ScaledHead(LAYER, HEAD, 1.0), "decoder")
    for attention, edit in (("cross", MeanHead(LAYER, HEAD)), ("decoder", KeepLast(3, 1)), ("cross", Int8Cache())):
        assert (logits(edit, attention) - plain).abs().max() > 1e-4
    for attention in SIDES:
        with pytest.raises(EditNotPossible, match=OF_BOTH):
            logits(SharpenedHead(LAYER, HEAD, 0.5), attention)


def test_a_module_that_attends_to_both_texts_is_one_part_of_its_layer():
    engine: Any = shared().engine
    names = engine.attention_names("decoder")
    assert names == (("self_attn",),) * len(names)


def test_pictures_say_where_the_rest_of_a_row_is_and_of_no_sink():
    encoder, own, across = three(shared().capture(REQUEST))
    said = [sink_words(one, LAYER, HEAD, "t5gemma2") for one in (encoder, own, across, joined(across))]
    assert said == ["", REST_IN["cross"], REST_IN["decoder"], REST_IN["decoder"]]
    assert [n_elsewhere(one, LAYER, 2) for one in (encoder, own, across)] == [0, N_READ, 3]
    whole = joined(across)
    assert n_elsewhere(whole, LAYER, N_READ + 2) == 3
    row = whole.weights(LAYER, HEAD, queries=slice(N_READ + 2, N_READ + 3))[0, :N_READ]
    torch.testing.assert_close(row, across.weights(LAYER, HEAD)[2], atol=1e-6, rtol=0)
    back = wire.from_bytes(wire.to_bytes(across))
    assert back.record(LAYER).rest_in == "decoder"
    torch.testing.assert_close(back.weights(LAYER, HEAD), across.weights(LAYER, HEAD))


def test_keys_of_the_text_that_depend_on_what_is_written_are_refused():
    """Which keys are whose is told by what was given to the module, and tried."""
    model: Any = FAMILIES["t5gemma2"]()

    def mixed(_: Any, __: Any, given: dict[str, Any]) -> Any:
        read = given["encoder_hidden_states"] + given["hidden_states"][:, -1:]
        return (), {**given, "encoder_hidden_states": read}

    model.model.decoder.layers[LAYER].self_attn.register_forward_pre_hook(mixed, with_kwargs=True)
    with pytest.raises(NotCapturable, match=MERGED):
        LocalRunner(model, byte_tokenizer(), name="mixed")
