"""Inverting a rotation gives the vectors before it, for every layout, and what cannot be inverted is refused."""

from __future__ import annotations

import cmath
import sys
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model_runner.rotary import RotaryCall, Rotation, find_rotation, is_rotary, watch_rotations

HEADS, TOKENS, D_HEAD = 3, 11, 12
CLOSE = 5e-6  # float32: a few roundings (6e-8) of numbers up to 4, and of their quotients


def _angles(width: int) -> Tensor:
    """Position × frequency, in float64: (tokens, pairs)."""
    frequencies = torch.tensor([10.0 ** (-i) for i in range(width // 2)], dtype=torch.float64)
    return torch.arange(TOKENS, dtype=torch.float64)[:, None] * frequencies


def _noise(width: int = D_HEAD) -> Tensor:
    return torch.randn(HEADS, TOKENS, width, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def _turned(x: Tensor, pairs: list[tuple[int, int]], scale: float = 1.0) -> Tensor:
    """Every pair as a complex number times e^(i·angle), one at a time."""
    result = x.clone()
    for head in range(len(x)):
        for token, angles in enumerate(_angles(2 * len(pairs)).tolist()):
            for (a, b), angle in zip(pairs, angles, strict=True):
                number = complex(float(x[head, token, a]), float(x[head, token, b])) * scale * cmath.exp(1j * angle)
                result[head, token, a], result[head, token, b] = number.real, number.imag
    return result


def _halves(width: int) -> list[tuple[int, int]]:
    return [(i, i + width // 2) for i in range(width // 2)]


def _neighbours(width: int) -> list[tuple[int, int]]:
    return [(2 * i, 2 * i + 1) for i in range(width // 2)]


# The functions below are written as those of transformers' modeling files are: q and k (batch, heads, tokens, width).


def half_split(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1) -> tuple[Tensor, Tensor]:
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)

    def turn(x: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-second, first], dim=-1) * sin

    return turn(q), turn(k)


def in_neighbours(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1) -> tuple[Tensor, Tensor]:
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)

    def turn(x: Tensor) -> Tensor:
        return x * cos + torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).flatten(-2) * sin

    return turn(q), turn(k)


def apply_rotary_pos_emb_interleave(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1
) -> tuple[Tensor, Tensor]:
    """DeepSeek: neighbours come in, halves go out."""

    def sorted_halves(x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)

    return half_split(sorted_halves(q), sorted_halves(k), cos, sin, unsqueeze_dim)


def _cos_sin(layout: str, width: int, scale: float) -> tuple[Tensor, Tensor]:
    angles = _angles(width)
    wide = angles.repeat_interleave(2, dim=-1) if layout == "neighbours" else torch.cat([angles, angles], dim=-1)
    return (scale * wide.cos()).float()[None], (scale * wide.sin()).float()[None]


Case = tuple[Callable[..., Any], str, list[tuple[int, int]]]
LAYOUTS: dict[str, Case] = {
    "half split": (half_split, "halves", _halves(D_HEAD)),
    "interleaved": (in_neighbours, "neighbours", _neighbours(D_HEAD)),
}


def _rotation(
    function: Callable[..., Any], layout: str, *, width: int = D_HEAD, start: int = 0, scale: float = 1.0
) -> Rotation:
    cos, sin = _cos_sin(layout, width, scale)
    return Rotation(function, cos, sin, (), {}, start, start + width, layout == "into halves")


@pytest.mark.parametrize("scale", [1.0, 1.3], ids=["plain", "scaled as by YaRN"])
@pytest.mark.parametrize("function, layout, pairs", LAYOUTS.values(), ids=LAYOUTS)
def test_the_inverse_gives_back_what_complex_numbers_turned(
    function: Callable[..., Any], layout: str, pairs: list[tuple[int, int]], scale: float
) -> None:
    before = _noise()
    found = _rotation(function, layout, scale=scale).unrotate(_turned(before, pairs, scale))
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), before, atol=CLOSE, rtol=0)


def test_pairs_that_came_interleaved_and_left_as_halves_come_back_interleaved() -> None:
    before = _noise()
    turned = _turned(before, _neighbours(D_HEAD))
    as_halves = torch.cat([turned[..., ::2], turned[..., 1::2]], dim=-1)
    found = _rotation(apply_rotary_pos_emb_interleave, "into halves").unrotate(as_halves)
    torch.testing.assert_close(found.double(), before, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("start", [0, D_HEAD - 8], ids=["the first part", "the last part"])
def test_what_was_not_turned_is_passed_through(start: int) -> None:
    before = _noise()
    turned = before.clone()
    turned[..., start : start + 8] = _turned(before[..., start : start + 8], _halves(8))
    found = _rotation(half_split, "halves", width=8, start=start).unrotate(turned)
    torch.testing.assert_close(found.double(), before, atol=CLOSE, rtol=0)
    rest = [i for i in range(D_HEAD) if not start <= i < start + 8]
    assert torch.equal(found[..., rest], before[..., rest].float())


# -- finding the rotation of a layer ----------------------------------------------------------------------------------


def _call(function: Callable[..., Any], layout: str, q: Tensor, *, width: int = D_HEAD) -> RotaryCall:
    cos, sin = _cos_sin(layout, width, 1.0)
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
    assert isinstance(found, Rotation)
    assert found.function is in_neighbours
    assert (found.start, found.stop) == (0, D_HEAD)
    torch.testing.assert_close(found.unrotate(calls[1].rotated_q[0]), _q(2)[0], atol=CLOSE, rtol=0)


def test_a_rotation_that_is_known_is_not_tried_again_and_another_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    call, other = _call(half_split, "halves", _q(1)), _call(in_neighbours, "neighbours", _q(2))
    known = find_rotation([call], call.rotated_q[0])
    assert isinstance(known, Rotation)
    monkeypatch.setattr(Rotation, "round_trips", lambda _: False)
    assert find_rotation([call], call.rotated_q[0], [known]) is known
    assert find_rotation([other], other.rotated_q[0], [known]) == "its inverse does not undo it"
    turned = replace(call, cos_sin=tuple(part.clone() for part in call.cos_sin))
    assert find_rotation([turned], call.rotated_q[0], [known]) == "its inverse does not undo it"
    settings = replace(call, rest=(*call.rest, torch.ones(2)))
    assert find_rotation([settings], call.rotated_q[0], [known]) == "its inverse does not undo it"


@pytest.mark.parametrize("start", [0, D_HEAD - 8])
def test_a_rotation_of_a_part_is_found_in_its_place(start: int) -> None:
    part = _q(1, width=8)
    call = _call(half_split, "halves", part, width=8)
    q = _q(2)
    before = q.clone()
    before[..., start : start + 8] = part
    q[..., start : start + 8] = call.rotated_q
    found = find_rotation([call], q[0])
    assert isinstance(found, Rotation)
    assert (found.start, found.stop) == (start, start + 8)
    torch.testing.assert_close(found.unrotate(q[0]), before[0], atol=CLOSE, rtol=0)


def test_a_rotation_in_float32_of_a_q_that_is_kept_in_half_precision_is_found() -> None:
    call = _call(half_split, "halves", _q())
    assert isinstance(find_rotation([call], call.rotated_q[0].bfloat16()), Rotation)


def test_queries_that_were_changed_after_the_rotation_are_refused() -> None:
    call = _call(half_split, "halves", _q())
    assert str(find_rotation([call], 1.01 * call.rotated_q[0])) == "queries are changed again after the rotation"


def test_a_rotation_of_other_heads_or_tokens_is_not_this_one() -> None:
    call = _call(half_split, "halves", _q())
    for q in (call.rotated_q[:, :-1], call.rotated_q[:, :, 1:], call.rotated_q[..., :-2]):
        assert not isinstance(find_rotation([call], q[0]), Rotation)


def test_a_rotation_that_is_not_given_as_cosine_and_sine_is_refused() -> None:
    call = _call(half_split, "halves", _q())
    complex_call = RotaryCall(call.function, None, (), {}, call.rotated_q)
    assert str(find_rotation([complex_call], call.rotated_q[0])) == "the rotation is not given as a cosine and a sine"


def test_a_function_that_its_inverse_does_not_undo_is_refused() -> None:
    def bent(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        turned, _ = half_split(q, k, cos, sin)
        return turned.abs(), turned.abs()

    call = _call(bent, "halves", _q())
    assert str(find_rotation([call], call.rotated_q[0])) == "its inverse does not undo it"


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
        watch_rotations(model, heard.append, lambda cos, sin: (cos, sin))
    cos, sin = _cos_sin("halves", D_HEAD, 1.0)
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
    watch_rotations(model, heard.append, lambda cos, sin: (cos, sin))
    cos, sin = _cos_sin("halves", D_HEAD, 1.0)
    rotated_q, _ = module.apply_rotary_pos_emb(_q(), _q(), cos=cos, sin=sin, unsqueeze_dim=1)
    found = find_rotation(heard, rotated_q[0])
    assert isinstance(found, Rotation)
    assert found.options == {"unsqueeze_dim": 1}
    torch.testing.assert_close(found.unrotate(rotated_q[0]), _q()[0], atol=CLOSE, rtol=0)
