"""Inverting a rotation gives the vectors before it, for every layout, and what cannot be inverted is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model_runner.local.recording import rotary_hooks
from model_runner.local.recording.rotary_hooks import (
    InferredRotation,
    RotaryCall,
    find_rotation,
    hook_rotary,
    is_rotary,
    read_rotation,
)
from model_runner.rotary import Rotation
from tests.model_runner.rotary_functions import (
    D_HEAD,
    HEADS,
    TOKENS,
    apply_rotary_pos_emb_interleave,
    cos_sin_of,
    half_split,
    halves,
    in_neighbours,
    neighbours,
    noise,
    turned_by_numbers,
)

CLOSE = 5e-6  # float32: a few roundings (6e-8) of numbers up to 4, and of their quotients

Case = tuple[Callable[..., Any], str, list[tuple[int, int]]]
LAYOUTS: dict[str, Case] = {
    "half split": (half_split, "halves", halves(D_HEAD)),
    "interleaved": (in_neighbours, "neighbours", neighbours(D_HEAD)),
}


def _rotation(
    function: Callable[..., Any], layout: str, *, width: int = D_HEAD, start: int = 0, scale: float = 1.0
) -> Rotation:
    call = RotaryCall(function, cos_sin_of(layout, width, scale), (), {}, torch.zeros(1, HEADS, TOKENS, width))
    found = read_rotation(call, start, start + width)
    assert isinstance(found, InferredRotation)
    return found.rotation


@pytest.mark.parametrize("scale", [1.0, 1.3], ids=["plain", "scaled as by YaRN"])
@pytest.mark.parametrize("function, layout, pairs", LAYOUTS.values(), ids=LAYOUTS)
def test_the_inverse_gives_back_what_complex_numbers_turned(
    function: Callable[..., Any], layout: str, pairs: list[tuple[int, int]], scale: float
) -> None:
    before = noise()
    rotation, turned = _rotation(function, layout, scale=scale), turned_by_numbers(before, pairs, scale)
    found = rotation.unrotate(turned)
    assert (found.dtype, rotation.unrotate(turned.bfloat16()).dtype) == (torch.float64, torch.float32)
    torch.testing.assert_close(found.double(), before, atol=CLOSE, rtol=0)


def test_pairs_that_came_interleaved_and_left_as_halves_come_back_interleaved() -> None:
    before = noise()
    turned = turned_by_numbers(before, neighbours(D_HEAD))
    as_halves = torch.cat([turned[..., ::2], turned[..., 1::2]], dim=-1)
    found = _rotation(apply_rotary_pos_emb_interleave, "into halves").unrotate(as_halves)
    torch.testing.assert_close(found.double(), before, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("start", [0, D_HEAD - 8], ids=["the first part", "the last part"])
def test_what_was_not_turned_is_passed_through(start: int) -> None:
    before = noise()
    turned = before.clone()
    turned[..., start : start + 8] = turned_by_numbers(before[..., start : start + 8], halves(8))
    found = _rotation(half_split, "halves", width=8, start=start).unrotate(turned)
    torch.testing.assert_close(found.double(), before, atol=CLOSE, rtol=0)
    rest = [i for i in range(D_HEAD) if not start <= i < start + 8]
    assert torch.equal(found[..., rest], before[..., rest])


# -- finding the rotation of a layer ----------------------------------------------------------------------------------


def _call(function: Callable[..., Any], layout: str, q: Tensor, *, width: int = D_HEAD) -> RotaryCall:
    cos, sin = cos_sin_of(layout, width, 1.0)
    return RotaryCall(function, (cos, sin), (), {}, function(q, q, cos, sin)[0])


def _q(seed: int = 0, width: int = D_HEAD) -> Tensor:
    return torch.randn(1, HEADS, TOKENS, width, generator=torch.Generator().manual_seed(seed))


def test_without_a_call_there_is_no_rotation() -> None:
    assert find_rotation([], _q()[0]) is None


def test_of_several_calls_the_one_that_made_this_q_is_found() -> None:
    calls = [
        _call(half_split, "halves", _q(1)),
        _call(in_neighbours, "neighbours", _q(2)),
        _call(half_split, "halves", _q(3)),
    ]
    found = find_rotation(calls, calls[1].rotated_q[0])
    assert isinstance(found, InferredRotation)
    assert found.call.function is in_neighbours
    assert (found.rotation.start, found.rotation.stop) == (0, D_HEAD)
    torch.testing.assert_close(found.rotation.unrotate(calls[1].rotated_q[0]), _q(2)[0], atol=CLOSE, rtol=0)


def test_a_rotation_that_is_known_is_not_tried_again_and_another_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    call, other = _call(half_split, "halves", _q(1)), _call(in_neighbours, "neighbours", _q(2))
    known = find_rotation([call], call.rotated_q[0])
    assert isinstance(known, InferredRotation)
    monkeypatch.setattr(rotary_hooks, "read_rotation", lambda *_: "read again")
    assert find_rotation([call], call.rotated_q[0], [known]) is known
    assert find_rotation([other], other.rotated_q[0], [known]) == "read again"
    turned = replace(call, cos_sin=tuple(part.clone() for part in call.cos_sin))
    assert find_rotation([turned], call.rotated_q[0], [known]) == "read again"
    settings = replace(call, rest=(*call.rest, torch.ones(2)))
    assert find_rotation([settings], call.rotated_q[0], [known]) == "read again"


@pytest.mark.parametrize("start", [0, D_HEAD - 8])
def test_a_rotation_of_a_part_is_found_in_its_place(start: int) -> None:
    part = _q(1, width=8)
    call = _call(half_split, "halves", part, width=8)
    q = _q(2)
    before = q.clone()
    before[..., start : start + 8] = part
    q[..., start : start + 8] = call.rotated_q
    found = find_rotation([call], q[0])
    assert isinstance(found, InferredRotation)
    assert (found.rotation.start, found.rotation.stop) == (start, start + 8)
    torch.testing.assert_close(found.rotation.unrotate(q[0]), before[0], atol=CLOSE, rtol=0)


def test_a_rotation_in_float32_of_a_q_that_is_kept_in_half_precision_is_found() -> None:
    call = _call(half_split, "halves", _q())
    assert isinstance(find_rotation([call], call.rotated_q[0].bfloat16()), InferredRotation)


def test_queries_that_were_changed_after_the_rotation_are_refused() -> None:
    call = _call(half_split, "halves", _q())
    assert str(find_rotation([call], 1.01 * call.rotated_q[0])) == "queries are changed again after the rotation"


def test_a_rotation_of_other_heads_or_tokens_is_not_this_one() -> None:
    call = _call(half_split, "halves", _q())
    for q in (call.rotated_q[:, :-1], call.rotated_q[:, :, 1:], call.rotated_q[..., :-2]):
        assert not isinstance(find_rotation([call], q[0]), InferredRotation)


def test_a_rotation_that_is_not_given_as_cosine_and_sine_is_refused() -> None:
    call = _call(half_split, "halves", _q())
    complex_call = RotaryCall(call.function, None, (), {}, call.rotated_q)
    assert str(find_rotation([complex_call], call.rotated_q[0])) == "the rotation is not given as a cosine and a sine"


def with_bent(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    turned, _ = half_split(q, k, cos, sin)
    return turned.abs(), turned.abs()


def in_threes(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    turned = q * cos[:, None] + q.roll(3, dims=-1) * sin[:, None]
    return turned, turned


def twice(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    turned, _ = half_split(q, k, cos, sin)
    turned = turned + 0.5 * (q * sin[:, None] * cos[:, None])
    return turned, turned


@pytest.mark.parametrize(
    "function, reason",
    [
        (with_bent, "it does not turn coordinates in pairs"),
        (in_threes, "it does not turn coordinates in pairs"),
        (twice, "its inverse does not undo it"),
    ],
)
def test_a_function_that_is_no_rotation_of_pairs_is_refused(function: Callable[..., Any], reason: str) -> None:
    call = _call(function, "halves", _q())
    assert str(find_rotation([call], call.rotated_q[0])) == reason


def test_a_rotation_the_other_way_round_is_read_with_its_pairs_swapped() -> None:
    def clockwise(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        return half_split(q, k, cos, -sin)

    found = _rotation(clockwise, "halves")
    assert found.pairs.tolist() == [[second, first] for first, second in halves(D_HEAD)]


# -- watching a modeling module ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, rotary",
    [
        ("apply_rotary_pos_emb", True),
        ("apply_rotary_pos_emb_interleave", True),
        ("apply_rope", True),
        ("apply_rotary_emb", True),
        ("rotate_half", False),
        ("apply_chunking_to_forward", False),
    ],
)
def test_rotary_functions_are_known_by_their_names(name: str, rotary: bool) -> None:
    assert is_rotary(name) == rotary


@pytest.fixture
def modeling(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A modeling module of transformers with one rotary function and one model."""
    name = "transformers.models.made.modeling_made"
    module = SimpleNamespace(apply_rotary_pos_emb=half_split, rotate_half=len)
    model = type("Made", (nn.Module,), {"__module__": name})()
    monkeypatch.setitem(sys.modules, name, module)
    return module, model


def test_a_watched_function_gives_what_it_gave_and_tells_of_each_call_once(modeling: Any) -> None:
    module, model = modeling
    heard: list[RotaryCall] = []
    for _ in range(3):
        hook_rotary(model, heard.append, lambda cos, sin: (cos, sin))
    cos, sin = cos_sin_of("halves", D_HEAD, 1.0)
    q, k = _q(1), _q(2)
    rotated_q, rotated_k = module.apply_rotary_pos_emb(q, k, cos, sin, 1)
    for found, expected in zip((rotated_q, rotated_k), half_split(q, k, cos, sin), strict=True):
        assert torch.equal(found, expected)
    (call,) = heard
    assert call.function is half_split
    assert call.cos_sin is not None
    assert torch.equal(call.cos_sin[0], cos)
    assert torch.equal(call.cos_sin[1], sin)
    assert (call.rest, call.options) == ((1,), {})
    assert torch.equal(call.rotated_q, rotated_q)
    assert module.rotate_half is len


def test_cosine_and_sine_may_be_given_by_name(modeling: Any) -> None:
    module, model = modeling
    heard: list[RotaryCall] = []
    hook_rotary(model, heard.append, lambda cos, sin: (cos, sin))
    cos, sin = cos_sin_of("halves", D_HEAD, 1.0)
    rotated_q, _ = module.apply_rotary_pos_emb(_q(), _q(), cos=cos, sin=sin, unsqueeze_dim=1)
    found = find_rotation(heard, rotated_q[0])
    assert isinstance(found, InferredRotation)
    assert found.call.options == {"unsqueeze_dim": 1}
    torch.testing.assert_close(found.rotation.unrotate(rotated_q[0]), _q()[0], atol=CLOSE, rtol=0)
