"""Edits of the rotation: equal to a model built with those frequencies, or run at those positions."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest, GenerateRequest
from model_runner.edits import Documents, Edit
from model_runner.errors import ContextFull, EditNotPossible, SequenceTooLong
from model_runner.local.runner import LocalRunner
from model_runner.rotation_edit import NtkTheta, RestartedPositions, ScaledTheta, ShiftedPositions, Unrotated, YarnTheta
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.families import EDITABLE
from tests.model_runner.tiny import D_HEAD, MAX_TOKENS, byte_tokenizer, tiny

IDS = byte_tokenizer()(TEXT).input_ids
TOKENS = len(IDS)
CLOSE = 1e-5  # float32, see tests/model_runner/cases.py
ROTATED = [family.name for family in EDITABLE if family.projection is not None and not family.not_recoverable]
BASE = 10_000.0


def llama(**rope: object) -> LocalRunner:
    rope = {"rope_type": "default", "rope_theta": BASE, **rope}
    model = tiny("llama", num_key_value_heads=2, rope_parameters=rope)()
    return LocalRunner(model, byte_tokenizer(), name="llama")


def all_logits(runner: LocalRunner, *edits: Edit) -> Tensor:
    captured = runner.capture(CaptureRequest(text=TEXT, edits=edits))
    return torch.stack([captured.logits(position) for position in range(TOKENS)])


def at_positions(positions: list[int], keep: Tensor) -> Tensor:
    """What a plain Llama says of the text at these positions, under this mask."""
    plain = tiny("llama", num_key_value_heads=2, rope_parameters={"rope_type": "default", "rope_theta": BASE})()
    with torch.no_grad():
        return plain(
            torch.tensor([IDS]), position_ids=torch.tensor([positions]), attention_mask=keep[None, None]
        ).logits[0]


CAUSAL = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()


def test_without_rotation_queries_meet_keys_as_they_were_projected():
    runner = llama()
    plain, edited = (runner.capture(CaptureRequest(text=TEXT, edits=edits)) for edits in ((), (Unrotated(),)))
    assert (edited.q(0) - plain.q_unrotated(0)).abs().max() <= CLOSE
    assert (edited.k(0) - plain.k_unrotated(0)).abs().max() <= CLOSE
    assert (edited.q(0) - edited.q_unrotated(0)).abs().max() <= CLOSE
    still = at_positions([0] * TOKENS, CAUSAL)  # at position 0 nothing is turned
    assert (all_logits(runner, Unrotated()) - still).abs().max() <= CLOSE


@pytest.mark.parametrize("factor", [2.0, 4.0])
def test_a_smaller_theta_is_linear_interpolation(factor):
    native = all_logits(llama(rope_type="linear", factor=factor))
    assert (all_logits(llama(), ScaledTheta(1 / factor)) - native).abs().max() <= CLOSE


@pytest.mark.parametrize("factor", [2.0, 8.0])
def test_ntk_is_a_model_with_a_larger_base(factor):
    native = all_logits(llama(rope_theta=BASE * factor ** (D_HEAD / (D_HEAD - 2))))
    assert (all_logits(llama(), NtkTheta(factor)) - native).abs().max() <= CLOSE


@pytest.mark.parametrize("factor, context", [(2.0, 16), (8.0, 64), (4.0, 2048)])
def test_yarn_is_a_model_built_with_it(factor, context):
    native = all_logits(llama(rope_type="yarn", factor=factor, original_max_position_embeddings=context))
    assert (all_logits(llama(), YarnTheta(factor, context)) - native).abs().max() <= CLOSE
    assert (all_logits(llama()) - native).abs().max() > 10 * CLOSE


@pytest.mark.parametrize("edit", [NtkTheta(4.0), YarnTheta(4.0, MAX_TOKENS), ScaledTheta(0.25)])
def test_a_text_beyond_the_context_is_read_once_the_rotation_is_stretched_so_far_and_refused_before(edit):
    runner, text = llama(), "x" * (MAX_TOKENS + 100)
    with pytest.raises(SequenceTooLong) as refused:
        runner.capture(CaptureRequest(text=text))
    assert refused.value.values["characters"] == MAX_TOKENS
    captured = runner.capture(CaptureRequest(text=text, edits=(edit,)))
    assert len(captured.tokens) == MAX_TOKENS + 100
    assert captured.verify(0).ok
    with pytest.raises(SequenceTooLong):
        runner.capture(CaptureRequest(text=text * 4, edits=(edit,)))
    with pytest.raises(SequenceTooLong):
        runner.capture(CaptureRequest(text=text, edits=(ShiftedPositions(3),)))
    with pytest.raises(ContextFull):
        next(runner.generate(GenerateRequest(text=text, edits=(edit,))))


@pytest.mark.table
@pytest.mark.parametrize("name", ROTATED)
def test_shifting_every_position_changes_nothing_because_rope_is_relative(name):
    runner = runner_of(FAMILY[name])
    plain, edited = (runner.capture(CaptureRequest(text=TEXT, edits=edits)) for edits in ((), (ShiftedPositions(100),)))
    layers = [layer for layer in FAMILY[name].attention_layers if layer not in FAMILY[name].not_rotated]
    assert (edited.q(layers[0]) - plain.q(layers[0])).abs().max() > 0.01  # the vectors did turn
    for layer in FAMILY[name].attention_layers:
        assert edited.verify(layer).ok
        difference = (edited.weights(layer, 0) - plain.weights(layer, 0)).abs().max()
        # An angle of 100 radians more is rounded by 100 · 6e-8 · the scores' size, about 10.
        assert difference <= 1e-4, f"layer {layer}"


def test_a_shift_is_the_same_as_other_position_ids():
    assert (
        all_logits(llama(), ShiftedPositions(64)) - at_positions([*range(64, 64 + TOKENS)], CAUSAL)
    ).abs().max() <= (
        10 * CLOSE  # float32 rounds angles of 64 and more by up to 4e-6 on both sides
    )


def test_restarted_positions_are_those_position_ids():
    restarted = [*range(12), *range(TOKENS - 12)]
    edited = all_logits(llama(), RestartedPositions((12,)))
    assert (edited - at_positions(restarted, CAUSAL)).abs().max() <= CLOSE


def test_packed_documents_with_restarted_positions_and_their_mask_are_read_as_if_alone():
    runner = llama()
    starts = (9, 21)
    packed = all_logits(runner, RestartedPositions(starts), Documents(starts))
    plain = tiny("llama", num_key_value_heads=2, rope_parameters={"rope_type": "default", "rope_theta": BASE})()
    parts = [IDS[:9], IDS[9:21], IDS[21:]]
    with torch.no_grad():
        alone = torch.cat([plain(torch.tensor([part])).logits[0] for part in parts])
    assert (packed - alone).abs().max() <= CLOSE
    leaking = all_logits(runner, RestartedPositions(starts))
    assert (leaking - alone).abs().max() > 0.01


def test_an_edit_that_changes_nothing_gives_the_very_same_numbers():
    runner = llama()
    assert torch.equal(all_logits(runner, ScaledTheta(1.0)), all_logits(runner))


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_a_model_without_rotation_says_so(name):
    with pytest.raises(EditNotPossible, match="no rotation"):
        runner_of(FAMILY[name]).capture(CaptureRequest(text=TEXT, edits=(Unrotated(),)))


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf")])
def test_a_theta_of_zero_or_nan_is_refused(factor):
    with pytest.raises(EditNotPossible, match="positive number"):
        ScaledTheta(factor)
    with pytest.raises(EditNotPossible, match="positive number"):
        NtkTheta(factor)


@pytest.mark.parametrize("name", [family.name for family in EDITABLE if family.not_recoverable])
def test_a_rotation_of_another_kind_is_left_alone_and_said(name):
    """Llama 4 multiplies by complex numbers: an edit that would silently change nothing is refused."""
    with pytest.raises(EditNotPossible, match="a cosine and a sine"):
        runner_of(FAMILY[name]).capture(CaptureRequest(text=TEXT, edits=(ScaledTheta(2.0),)))
