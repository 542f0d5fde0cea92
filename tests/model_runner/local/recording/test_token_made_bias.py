"""Masks and biases that tokens make of themselves: Doge's number a key, Inkling's profile a query."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor

from attention import masks
from model_runner import wire
from model_runner.capture import Capture
from model_runner.edits import Blocked, Int8Cache, KeepLast, Masked, SharedKeys, SharpenedHead
from model_runner.errors import EditNotPossible, NotCapturable
from model_runner.local.recording import token_made_bias
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.token_bias import KeyBias, ProfileBias
from tests.model_runner.cases import FAMILY, runner_of, shared_runner
from tests.model_runner.tiny import byte_tokenizer

MADE = ("doge", "doge-wide", "inkling", "inkling2")
LETTERS = "abcdefghijklmnopqrst"  # no two keys count exactly alike where no letter comes again


def capture(name: str, text: str = LETTERS, *edits: Any) -> Capture:
    return shared_runner(name).capture(CaptureRequest(text, edits=edits))


def every(found: Capture, layer: int) -> Tensor:
    return found.layer_weights(layer, slice(0, len(found.tokens)))


@torch.no_grad()
def kept_by_doge(found: Capture) -> list[Tensor]:
    """Which cells ``[heads, queries, keys]`` the masks have that a plain Doge makes of this text."""
    model: Any = FAMILY["doge"].build()
    made: list[Tensor] = []

    def noted(own: Any) -> Any:
        def make(**given: Any) -> Tensor:
            made.append(own(**given))
            return made[-1]

        return make

    for layer in model.model.layers:
        layer.self_attn.prepare_dynamic_mask = noted(layer.self_attn.prepare_dynamic_mask)
    model(torch.tensor([[token.id for token in found.tokens]]), use_cache=False)
    return [one[0].repeat_interleave(2, dim=0) > -1e30 for one in made]


@pytest.mark.parametrize("text", ["a" * 40, "ab" * 20, "the dog chased the dog " * 3])
def test_of_keys_that_count_alike_those_are_left_out_that_the_model_left_out(text: str) -> None:
    found = capture("doge", text)
    for layer, keep in enumerate(kept_by_doge(found)):
        assert torch.equal(every(found, layer) > 0, keep)
        assert found.verify(layer).ok
    rule = found.record(0).mask.own
    assert isinstance(rule, masks.And)
    assert isinstance(rule.second, masks.LargestKeys)
    assert len(rule.second.left_out) > 0


def test_a_text_with_more_such_cells_than_are_kept_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_made_bias, "MOST_LEFT_OUT", 100)
    runner = runner_of(FAMILY["doge"])
    assert runner.capture(CaptureRequest(LETTERS)).verify(0).ok
    with pytest.raises(NotCapturable, match="has too many ties"):
        runner.capture(CaptureRequest("a" * 40))


def test_doges_mask_leaves_each_query_the_keys_with_the_largest_numbers() -> None:
    found = capture("doge")
    record = found.record(1)
    assert isinstance(record.bias, KeyBias)
    for head in range(found.n_heads):
        numbers = record.bias.tile(slice(head, head + 1), slice(0, 1), slice(0, len(found.tokens)))[0, 0]
        for query in range(len(found.tokens)):
            largest = set(numbers[: query + 1].topk(min(5, query + 1)).indices.tolist())
            assert set(found.weights(1, head)[query].nonzero()[:, 0].tolist()) == largest


@pytest.mark.parametrize("name", MADE)
def test_each_step_of_generation_is_the_capture_of_the_whole_text(name: str) -> None:
    steps = list(shared_runner(name).generate(GenerateRequest(LETTERS, max_new_tokens=6)))
    for step in (steps[0], steps[2], steps[-1]):  # the earlier ones after what came later
        whole = runner_of(FAMILY[name]).capture(step.capture.request)
        for layer in range(whole.n_layers):
            assert step.capture.verify(layer).ok
            torch.testing.assert_close(every(step.capture, layer), every(whole, layer), atol=1e-5, rtol=0)
            assert torch.equal(every(step.capture, layer) > 0, every(whole, layer) > 0)
        torch.testing.assert_close(step.capture.logits(-1), whole.logits(-1), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", MADE)
def test_bytes_give_the_same_weights(name: str) -> None:
    found = capture(name)
    again = wire.from_bytes(wire.to_bytes(found))
    for layer in range(found.n_layers):
        torch.testing.assert_close(every(again, layer), every(found, layer), atol=1e-6, rtol=0)
        assert torch.equal(every(again, layer) > 0, every(found, layer) > 0)


@pytest.mark.parametrize("name", MADE)
def test_what_is_kept_grows_with_the_tokens_alone(name: str) -> None:
    def kept(times: int) -> int:
        record = capture(name, LETTERS * times).record(1)
        assert isinstance(record.bias, KeyBias | ProfileBias)
        rule = record.mask.own
        second = rule.second if isinstance(rule, masks.And) else None
        chosen = 0 if not isinstance(second, masks.LargestKeys) else second.values.nbytes + second.least.nbytes
        return record.nbytes + record.bias.nbytes + chosen

    assert kept(8) <= 4.01 * kept(2)


@pytest.mark.parametrize("name", ["doge", "inkling"])
def test_a_sharpened_head_has_its_whole_score_divided(name: str) -> None:
    plain, found = capture(name), capture(name, LETTERS, SharpenedHead(1, 2, 0.5))
    expected = torch.softmax(plain.scores(1, 2) / 0.5, dim=-1)
    torch.testing.assert_close(found.weights(1, 2), expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(found.weights(1, 1), plain.weights(1, 1), atol=1e-6, rtol=0)
    assert all(found.verify(layer).ok for layer in range(found.n_layers))


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("edit", [KeepLast(4, 1), Blocked(((6, 2), (9, 9))), Masked("strided", (("stride", 3),))])
def test_an_edited_mask_hides_cells_of_what_the_model_had(name: str, edit: Any) -> None:
    plain, found = capture(name), capture(name, LETTERS, edit)
    tokens = slice(0, len(found.tokens))
    for head in range(found.n_heads):
        keep = found.record(0).mask.tile(tokens, tokens, torch.device("cpu"), head=head)
        scores = plain.scores(0, head)
        hidden = ~keep
        assert bool((hidden & scores.isfinite()).any())
        shown = scores.masked_fill(hidden, -torch.inf)[None]
        sinks = plain.record(0).sinks_at(slice(head, head + 1), tokens)
        extra = torch.empty(1, len(scores), 0) if sinks is None else sinks[..., None]
        expected = torch.softmax(torch.cat([shown, extra], dim=-1), dim=-1)[0, :, : len(scores)].nan_to_num()
        torch.testing.assert_close(found.weights(0, head), expected, atol=1e-5, rtol=0)
    assert all(found.verify(layer).ok for layer in range(found.n_layers))


@pytest.mark.parametrize("edit", [SharedKeys(1), Int8Cache()])
def test_an_edit_that_would_change_what_doges_mask_is_made_of_is_refused(edit: Any) -> None:
    with pytest.raises(EditNotPossible, match="its mask is made from the values"):
        capture("doge", LETTERS, edit)


def test_a_wrong_number_is_seen_by_the_badge() -> None:
    for name in MADE:
        found = capture(name)
        record = found.record(1)
        assert isinstance(record.bias, KeyBias | ProfileBias)
        part = "values" if isinstance(record.bias, KeyBias) else "states"
        wrong = dataclasses.replace(record.bias, **{part: getattr(record.bias, part) * 1.01})
        records = (found.record(0), dataclasses.replace(record, bias=wrong), found.record(2))
        assert not dataclasses.replace(found, records=records, _lse={}).verify(1).ok


def test_a_sink_a_query_has_its_share() -> None:
    found = capture("inkling2")
    record = found.record(1)
    assert record.sinks is not None
    wrong = dataclasses.replace(record, sinks=record.sinks + 0.01)
    records = (found.record(0), wrong, found.record(2))
    assert not dataclasses.replace(found, records=records, _lse={}).verify(1).ok


@pytest.mark.parametrize(
    "name, part, reason",
    [
        ("doge", "prepare_dynamic_mask", "it passes its own mask tensor instead of a rule"),
        ("inkling", "rel_logits_proj", "it adds a bias to its scores that does not depend on the distance alone"),
    ],
)
def test_what_is_made_otherwise_is_refused(name: str, part: str, reason: str) -> None:
    """With noise on it: a number a cell."""
    model: Any = FAMILY[name].build()
    attention = model.model.layers[1].self_attn
    if part == "prepare_dynamic_mask":
        own = attention.prepare_dynamic_mask
        attention.prepare_dynamic_mask = lambda **given: _noisy(own(**given))
    else:
        attention.rel_logits_proj.forward = _noisy_after(attention.rel_logits_proj.forward)
    with pytest.raises(NotCapturable, match=reason):
        LocalRunner(model, byte_tokenizer(), name=name)


def _noisy(mask: Tensor) -> Tensor:
    noise = torch.rand(mask.shape, generator=torch.Generator().manual_seed(0))
    return torch.where(mask > -1e30, mask + 0.1 * noise, mask)


def _noisy_after(forward: Any) -> Any:
    return lambda *given: _noisy(forward(*given))
