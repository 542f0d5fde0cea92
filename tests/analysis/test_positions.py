"""The rotation on the page is the captured one, and moved scores equal those of vectors rotated to there."""

from __future__ import annotations

import cmath
import dataclasses
import math

import numpy as np
import pytest
import torch

from analysis.positions import Dials, dials, moved_cell, shift_deviation, turned
from model_runner.errors import NoRotation, NoSuchPlace, NotRecoverable
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from model_runner.rotary import Rotation
from model_runner.rotation_edit import NtkTheta, RotationEdit, ScaledTheta, YarnTheta
from tests.model_runner.cases import case_of
from tests.model_runner.tiny import byte_tokenizer, tiny

LAYER, HEAD, QUERY, KEY = 1, 3, 20, 11
LAYOUTS = (
    "llama",
    "llama-yarn",
    "llama-llama3",
    "qwen3",
    "phi",
    "gpt-neox",
    "glm4",
    "deepseek-v3",
    "gemma3",
    "gpt-oss",
)
CLOSE = 1e-5  # of captured float32 numbers up to 10, and of their products


def captured(name: str):
    return case_of(name).capture


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_rotation_of_a_layer_is_verified_against_the_captured_vectors(name: str) -> None:
    found = turned(captured(name), LAYER)
    assert found.ok
    assert 0 < found.difference <= CLOSE
    assert found.wavelengths[0] == pytest.approx(2 * math.pi / found.theta[0])
    assert found.pairs.shape == (len(found.theta), 2)


def test_bfloat16_is_verified_to_its_own_rounding() -> None:
    found = turned(case_of("llama", "cpu", torch.bfloat16).capture, LAYER)
    assert found.ok
    assert found.tolerance > 100 * turned(captured("llama"), LAYER).tolerance


def test_a_rotation_with_a_shortened_sine_is_refused_before_anything_is_shown() -> None:
    capture = captured("llama")
    records = list(capture.records)
    rotation = capture.record(LAYER).rotation
    assert isinstance(rotation, Rotation)
    shortened = dataclasses.replace(rotation, sin=0.999 * rotation.sin)
    records[LAYER] = dataclasses.replace(capture.record(LAYER), rotation=shortened)
    with pytest.raises(NotRecoverable):
        turned(dataclasses.replace(capture, records=tuple(records)), LAYER)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_dial_turned_by_its_angle_points_where_the_captured_vector_does(name: str) -> None:
    capture, layer = captured(name), turned(captured(name), LAYER)
    found: Dials = dials(capture, LAYER, HEAD, QUERY)
    assert found.position == QUERY
    for before, after in ((found.q_before, found.q_after), (found.k_before, found.k_after)):
        for i, angle in enumerate(found.angles):
            number = layer.factor * complex(*before[i]) * cmath.exp(1j * float(np.float32(angle)))
            assert abs(number - complex(*after[i])) <= CLOSE
    np.testing.assert_allclose(found.angles, QUERY * layer.theta, rtol=1e-7)
    q = capture.q(LAYER)[HEAD, QUERY]
    k = capture.k(LAYER)[found.kv_head, QUERY]
    for i, (a, b) in enumerate(layer.pairs):
        assert found.q_after[i].tolist() == [float(q[a]), float(q[b])]
        assert found.k_after[i].tolist() == [float(k[a]), float(k[b])]


@pytest.mark.parametrize("name", [*LAYOUTS, "gemma2"])
def test_a_cell_at_its_own_positions_has_the_captured_score_and_keeps_it_when_both_move(name: str) -> None:
    capture = captured(name)
    cell = moved_cell(capture, LAYER, HEAD, QUERY, KEY)
    assert (cell.query, cell.key) == (QUERY, KEY)
    own = cell.score(QUERY, KEY)
    record = capture.record(LAYER)
    expected = float(record.q[HEAD, QUERY].double() @ record.k[HEAD // record.group, KEY].double()) * record.scale
    if record.softcap is not None:
        expected = record.softcap * math.tanh(expected / record.softcap)
    assert own == pytest.approx(expected, abs=CLOSE)
    for shift in (1, 64, 5000):
        assert cell.score(QUERY + shift, KEY + shift) == pytest.approx(own, abs=1e-10)
    assert abs(cell.score(QUERY + 1, KEY) - own) > 1e-3


def test_scores_stay_the_same_to_float64_rounding_when_all_positions_move() -> None:
    for name in LAYOUTS:
        capture = captured(name)
        found = shift_deviation(capture, LAYER, HEAD, (1, 7, 1000))
        assert found.shifts == (1, 7, 1000)
        assert found.deviation <= 1e-10, name
        assert found.captured <= CLOSE, name
        record = capture.record(LAYER)
        scores = record.scale * (record.q[HEAD].double() @ record.k[HEAD // record.group].double().T)
        assert found.largest == pytest.approx(float(scores.abs().max()), abs=CLOSE)


def test_the_deviation_sees_every_pair_of_a_text_longer_than_a_block() -> None:
    capture = captured("llama")
    whole = shift_deviation(capture, LAYER, HEAD, (3,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analysis.positions.ROWS", 5)
        blocked = shift_deviation(capture, LAYER, HEAD, (3,))
    assert blocked.captured == pytest.approx(whole.captured, abs=1e-12)
    assert blocked.largest == pytest.approx(whole.largest, abs=1e-12)


def test_a_layer_without_rotation_says_so() -> None:
    for ask in (lambda c: turned(c, 0), lambda c: dials(c, 0, 0, 0), lambda c: shift_deviation(c, 0, 0)):
        with pytest.raises(NoRotation, match="Layer 0 has no rotation"):
            ask(captured("gpt2"))


def test_places_that_are_not_there_are_refused() -> None:
    capture = captured("llama")
    with pytest.raises(NoSuchPlace, match="no head 4"):
        dials(capture, LAYER, 4, 0)
    with pytest.raises(NoSuchPlace, match="no position 999"):
        moved_cell(capture, LAYER, 0, 3, 999)


@pytest.mark.parametrize("edit", [NtkTheta(2.0), YarnTheta(2.0, 2048), ScaledTheta(0.5)], ids=["ntk", "yarn", "linear"])
def test_the_rotation_of_a_text_that_is_stretched_beyond_the_context_is_verified(edit: RotationEdit) -> None:
    model, tokenizer = tiny("llama", max_position_embeddings=2048, num_key_value_heads=2)(), byte_tokenizer()
    tokenizer.model_max_length = 4096
    runner = LocalRunner(model, tokenizer, name="long", device="cpu")
    capture = runner.capture(CaptureRequest("the dog " * 375, edits=(edit,)))
    assert len(capture.tokens) == 3000
    found = turned(capture, 1)
    assert found.ok, (found.difference, found.tolerance)
