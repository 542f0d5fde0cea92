"""The rotation read from a capture is the model's own: its layout, its frequencies, its vectors at every position."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from attention import rotary, rotary_scaling
from attention.rotary_scaling import ScaledFrequencies
from model_runner.capture import Capture
from model_runner.errors import NoRotation, NotRecoverable, NoWeights
from model_runner.local.runner import LocalRunner
from model_runner.positions import RotaryLayout, layout_of
from model_runner.request import CaptureRequest
from model_runner.rotary import Rotation
from model_runner.rotation_edit import RestartedPositions, ScaledTheta, ShiftedPositions, Unrotated
from tests.model_runner.cases import TEXT, Case, case_of, settings
from tests.model_runner.families import FAMILIES, Family
from tests.model_runner.tiny import MAX_TOKENS, byte_tokenizer, tiny

GQA = {"num_key_value_heads": 2}
LONG_TEXT = TEXT * 12  # 432 tokens
LINEAR = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}
PROPORTIONAL = {"rope_type": "proportional", "rope_theta": 1e4, "partial_rotary_factor": 0.5}
LONGROPE: dict[str, Any] = {
    "rope_type": "longrope",
    "rope_theta": 1e4,
    "short_factor": [1.0, 1.1, 1.2, 1.3],
    "long_factor": [1.0, 2.0, 3.0, 4.0],
    "factor": 4.0,
    "original_max_position_embeddings": 128,
}
RECOVERABLE = {f.name: f for f in FAMILIES if f.projection is not None and f.not_recoverable is None}
IN_BUFFERS = {name: family for name, family in RECOVERABLE.items() if not family.own_code}  # GPT-J keeps a table
LAYOUTS = {  # family: layout, start, stop
    "llama": ("half", 0, 8),
    "phi": ("half", 0, 4),
    "gpt-neox": ("half", 0, 4),
    "cohere": ("interleaved", 0, 8),
    "glm4": ("interleaved", 0, 4),
    "deepseek-v3": ("interleaved", 8, 12),
    "gpt-oss": ("half", 0, 8),
    "gptj": ("interleaved", 0, 4),
}


@functools.cache
def long_capture(name: str) -> Capture:
    """Of a family of the table, or of a Llama whose frequencies are scaled."""
    families: dict[str, Callable[[], Any]] = {family.name: family.build for family in FAMILIES}
    scaled = {"linear": LINEAR, "dynamic": DYNAMIC, "proportional": PROPORTIONAL, "longrope": LONGROPE}
    for scaling, parameters in scaled.items():
        positions = 128 if scaling == "dynamic" else MAX_TOKENS
        families[scaling] = tiny("llama", rope_parameters=parameters, max_position_embeddings=positions, **GQA)
    runner = LocalRunner(families[name](), byte_tokenizer(), name=name, device="cpu")
    runner.engine.info = dataclasses.replace(
        runner.info, max_tokens=MAX_TOKENS
    )  # a dynamic scaling begins beyond the limit
    return runner.capture(CaptureRequest(text=LONG_TEXT))


def rotated_layers(family: Family) -> list[int]:
    return [layer for layer in family.attention_layers if layer not in family.not_rotated]


def is_read(name: str, _device: str, dtype: torch.dtype) -> bool:
    return name in RECOVERABLE and (dtype == torch.float32 or not RECOVERABLE[name].float32_only)


@pytest.fixture(params=[param for param in settings() if is_read(*param.values[0])])
def case(request: pytest.FixtureRequest) -> Case:
    return case_of(*request.param)


def test_the_layout_turns_recovered_vectors_into_the_captured_ones(case: Case) -> None:
    for layer in rotated_layers(case.family):
        layout = layout_of(case.capture, layer)
        for before, after in [
            (case.capture.q_unrotated(layer), case.capture.q(layer)),
            (case.capture.k_unrotated(layer), case.capture.k(layer)),
        ]:
            # The model rounds cosine, sine and the rotated number to its dtype: 4 units of the largest cover that.
            unit = torch.finfo(after.dtype).eps
            allowed = max(1e-5, 4 * unit * float(after.float().abs().max()))
            assert (layout.rotate(before.cpu()) - after.float().cpu()).abs().max() <= allowed, f"layer {layer}"


@pytest.mark.parametrize("name", [*LAYOUTS, "llama-yarn", "linear", "dynamic", "proportional", "longrope"])
def test_rotated_vectors_equal_the_captured_ones_at_hundreds_of_positions(name: str) -> None:
    capture = long_capture(name)
    layout = layout_of(capture, 1)
    assert len(layout.positions) > 400
    assert (layout.rotate(capture.q_unrotated(1)) - capture.q(1)).abs().max() <= 1e-5
    assert (layout.rotate(capture.k_unrotated(1)) - capture.k(1)).abs().max() <= 1e-5


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_layout_is_named(name: str) -> None:
    layout = layout_of(case_of(name).capture, 0)
    assert (layout.layout, layout.start, layout.stop) == LAYOUTS[name]
    assert sorted(layout.pairs.flatten().tolist()) == list(range(layout.start, layout.stop))
    assert sorted(layout.source.flatten().tolist()) == list(range(layout.start, layout.stop))


def test_pairs_that_deepseek_sorts_come_from_neighbours_and_go_to_halves() -> None:
    layout = layout_of(case_of("deepseek-v3").capture, 0)
    assert layout.source.tolist() == [[8, 9], [10, 11]]
    assert layout.pairs.tolist() == [[8, 10], [9, 11]]


@pytest.mark.parametrize("family", IN_BUFFERS.values(), ids=IN_BUFFERS)
def test_frequencies_are_those_in_the_models_own_buffers(family: Family) -> None:
    model = family.build()
    with torch.no_grad():  # where frequencies change with the length, those of this text
        model(torch.tensor([[token.id for token in case_of(family.name).capture.tokens]]))
    buffers = [buffer for name, buffer in model.named_buffers() if name.endswith("inv_freq")]
    assert buffers
    for layer in rotated_layers(family):
        found = layout_of(case_of(family.name).capture, layer).theta
        assert (found.diff() <= 0).all()
        # 34 tokens tell neighbouring float32 numbers apart for fast pairs only: two units for slow ones
        close = [
            len(b) == len(found) and torch.allclose(b.double().sort(descending=True).values, found, rtol=2.4e-7, atol=0)
            for b in buffers
        ]
        assert any(close), f"layer {layer}: {found}"


@pytest.mark.parametrize(
    "name, scaled",
    [
        ("linear", lambda theta, _: rotary_scaling.linear(theta, 4.0)),
        ("dynamic", lambda theta, n: rotary_scaling.dynamic_ntk(theta, 4.0, tokens=n, context=128)),
        ("longrope", lambda theta, _: rotary_scaling.longrope(theta, LONGROPE["long_factor"], factor=4.0, context=128)),
        ("proportional", lambda theta, _: rotary_scaling.proportional(theta, 0.5)),
    ],
)
def test_scaled_frequencies_are_those_of_the_formula(
    name: str, scaled: Callable[[Tensor, int], ScaledFrequencies]
) -> None:
    capture = long_capture(name)
    expected = scaled(rotary.frequencies(1e4, 8), len(capture.tokens))
    torch.testing.assert_close(layout_of(capture, 1).theta, expected.theta, rtol=1e-6, atol=0)
    assert layout_of(capture, 1).factor == pytest.approx(expected.factor, rel=1e-7)


def test_a_long_text_gives_the_fast_frequencies_to_the_last_bit() -> None:
    found = layout_of(long_capture("llama"), 0).theta
    expected = 1.0 / (1e4 ** (torch.arange(0, 8, 2, dtype=torch.int64).float() / 8))
    assert torch.equal(found[:2], expected[:2].double())


@pytest.mark.parametrize("name, factor", [("llama-yarn", 0.1 * math.log(4) + 1), ("gpt-oss", 0.1 * math.log(32) + 1)])
def test_the_factor_is_the_one_of_yarn(name: str, factor: float) -> None:
    assert layout_of(case_of(name).capture, 0).factor == pytest.approx(factor, rel=1e-6)


def test_without_scaling_the_factor_is_exactly_one() -> None:
    assert layout_of(case_of("llama").capture, 0).factor == 1.0
    assert layout_of(case_of("llama", "cpu", torch.bfloat16).capture, 0).factor == 1.0


def test_pairs_that_stand_still_have_no_frequency() -> None:
    layout = layout_of(long_capture("proportional"), 0)
    assert layout.theta[2:].tolist() == [0.0, 0.0]
    assert layout.wavelengths[2:].isinf().all()
    assert (layout.theta[:2] > 0).all()


def test_bfloat16_cosines_give_frequencies_to_a_part_in_two_hundred() -> None:
    exact = layout_of(case_of("llama").capture, 0).theta
    found = layout_of(case_of("llama", "cpu", torch.bfloat16).capture, 0).theta
    torch.testing.assert_close(found, exact, rtol=5e-3, atol=0)


@functools.cache
def edited(*edits: Any) -> Capture:
    runner = LocalRunner(tiny("llama", **GQA)(), byte_tokenizer(), name="llama", device="cpu")
    return runner.capture(CaptureRequest(text=TEXT, edits=edits))


@pytest.mark.parametrize(
    "edits, positions",
    [
        ((ShiftedPositions(100),), [*range(100, 136)]),
        ((RestartedPositions((5, 20)),), [*range(5), *range(15), *range(16)]),
    ],
    ids=["shifted", "restarted"],
)
def test_edited_positions_are_those_of_the_edit(edits: tuple[Any, ...], positions: list[int]) -> None:
    capture, layout = edited(*edits), layout_of(edited(*edits), 1)
    assert layout.positions.tolist() == positions[: len(capture.tokens)]
    torch.testing.assert_close(layout.theta, layout_of(case_of("llama").capture, 1).theta, rtol=1e-6, atol=0)
    assert (layout.rotate(capture.q_unrotated(1)) - capture.q(1)).abs().max() <= 2e-5


def test_edited_frequencies_are_read_from_the_edited_rotation() -> None:
    own = layout_of(case_of("llama").capture, 0).theta
    torch.testing.assert_close(layout_of(edited(ScaledTheta(0.5)), 0).theta, own / 2, rtol=1e-6, atol=0)
    assert layout_of(edited(Unrotated()), 0).theta.abs().max() < 1e-6


@pytest.mark.parametrize("name, layer", [("gpt2", 0), ("bert", 1), ("cohere2", 1), ("smollm3", 1), ("llama4", 2)])
def test_a_layer_that_does_not_rotate_says_so(name: str, layer: int) -> None:
    with pytest.raises(NoRotation, match=f"Layer {layer} has no rotation"):
        layout_of(case_of(name).capture, layer)


@pytest.mark.parametrize("name", ["llama4", "deepseek-v2"])
def test_a_rotation_that_was_not_recovered_is_refused_with_its_reason(name: str) -> None:
    case = case_of(name)
    with pytest.raises(NotRecoverable, match=str(case.family.not_recoverable)):
        layout_of(case.capture, 0)


def test_a_layer_without_attention_has_no_weights() -> None:
    with pytest.raises(NoWeights):
        layout_of(case_of("jamba").capture, 0)


def test_a_text_of_one_token_does_not_show_how_fast_it_turns() -> None:
    runner = LocalRunner(tiny("llama", **GQA)(), byte_tokenizer(), name="llama", device="cpu")
    with pytest.raises(NotRecoverable, match="no two of its tokens follow each other"):
        layout_of(runner.capture(CaptureRequest(text="a")), 0)


def with_rotation(**fields: Any) -> Capture:
    capture = case_of("llama").capture
    records = list(capture.records)
    record = capture.record(0)
    assert isinstance(record.rotation, Rotation)
    records[0] = dataclasses.replace(record, rotation=dataclasses.replace(record.rotation, **fields))
    return dataclasses.replace(capture, records=tuple(records))


def own_cos_sin() -> tuple[Tensor, Tensor]:
    rotation = case_of("llama").capture.record(0).rotation
    assert isinstance(rotation, Rotation)
    return rotation.cos, rotation.sin


def test_angles_that_do_not_grow_with_the_position_are_refused() -> None:
    cos, sin = own_cos_sin()
    order = torch.arange(cos.shape[1])
    order[10:12] = torch.tensor([11, 10])
    with pytest.raises(NotRecoverable, match="its angles are not position × frequency"):
        layout_of(with_rotation(cos=cos[:, order], sin=sin[:, order]), 0)


def test_a_stretch_that_differs_between_pairs_is_refused() -> None:
    cos, sin = own_cos_sin()
    stretch = torch.tensor([1.0, 1.1, 1.0, 1.0]).repeat(2)
    with pytest.raises(NotRecoverable, match="it stretches some pairs more than others"):
        layout_of(with_rotation(cos=cos * stretch, sin=sin * stretch), 0)


def test_a_pair_turned_by_two_angles_is_refused() -> None:
    cos, sin = own_cos_sin()
    mixed = torch.cat([sin[..., :4], sin[..., 4:].roll(1, dims=-1)], dim=-1)
    with pytest.raises(NotRecoverable, match="the two coordinates of a pair are not turned by the same angle"):
        layout_of(with_rotation(sin=mixed, cos=cos), 0)


def test_a_rotation_the_other_way_round_is_a_layout_of_its_own() -> None:
    rotation = case_of("llama").capture.record(0).rotation
    assert isinstance(rotation, Rotation)
    swapped = {"pairs": rotation.pairs.flip(-1), "source": rotation.source.flip(-1)}
    layout = layout_of(with_rotation(**swapped), 0)
    assert layout.pairs.tolist() == [[4, 0], [5, 1], [6, 2], [7, 3]]
    assert layout.layout == "other"


def test_angles_are_rounded_as_the_models_own_product() -> None:
    layout: RotaryLayout = layout_of(case_of("llama").capture, 0)
    places = torch.tensor([0, 1, 1999])
    exact = rotary.angles_at(places, layout.theta)
    assert torch.equal(layout.angles(places), exact.float().double())
