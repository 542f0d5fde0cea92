"""Recover queries and keys before RoPE by inverting the rotation that the model itself applied.

The modeling module's own ``apply_*rotary*`` function is watched while a capture records. Its inverse is the same
function with the sine negated, divided by what it does to a vector of ones (cos² + sin², which scaled variants such as
YaRN make different from 1), so half-split, interleaved, partial and scaled layouts need no code of their own (Su et
al. 2021, arXiv:2104.09864). The inverse is tried on noise first; what does not round-trip is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.errors import N_

ROUND_TRIP_TOLERANCE = 1e-4  # of unit-variance noise in float32: cos² + sin² divides errors of a few eps


@dataclass(frozen=True, eq=False)
class RotaryCall:
    """One call of the model's rotary function, without its q and k."""

    function: Callable[..., Any]
    cos_sin: tuple[Tensor, Tensor] | None  # None: a convention that cannot be inverted here
    rest: tuple[Any, ...]
    options: dict[str, Any]
    rotated_q: Tensor

    @property
    def nbytes(self) -> int:
        return 0 if self.cos_sin is None else sum(part.nbytes for part in self.cos_sin)


@dataclass(frozen=True, eq=False)
class Rotation:
    """The rotation of one layer: the call, and the slice of d_head that it turns."""

    function: Callable[..., Any]
    cos: Tensor
    sin: Tensor
    rest: tuple[Any, ...]
    options: dict[str, Any]
    start: int
    stop: int
    interleaved_input: bool  # DeepSeek: pairs come in interleaved and leave as halves

    def is_of(self, call: RotaryCall, start: int, stop: int) -> bool:
        """Whether this call turned the same slice by the very same cosines and sines."""
        return (
            call.cos_sin is not None
            and (self.function, self.start, self.stop) == (call.function, start, stop)
            and self.options.keys() == call.options.keys()
            and _alike((*self.rest, *self.options.values()), (*call.rest, *call.options.values()))
            and all(_same_place(mine, its) for mine, its in zip((self.cos, self.sin), call.cos_sin, strict=True))
        )

    def apply(self, x: Tensor, sin_sign: float = 1.0) -> Tensor:
        """The model's own function on ``[heads, tokens, rotated]``, in float32."""
        x = x[None]
        return self.function(x, x, self.cos.float(), sin_sign * self.sin.float(), *self.rest, **self.options)[0][0]

    def invert(self, x: Tensor) -> Tensor:
        """The vectors before the rotation, ``[heads, tokens, rotated]``, in float32."""
        if self.interleaved_input:
            return self._invert_interleaved(x)
        ones = torch.ones_like(x[:1])
        return self.apply(x, -1.0) / self.apply(self.apply(ones), -1.0)

    def _invert_interleaved(self, x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        cos, sin = self.cos[0, :, :half].float(), self.sin[0, :, :half].float()
        first, second = x[..., :half], x[..., half:]
        pairs = torch.stack([first * cos + second * sin, second * cos - first * sin], dim=-1)
        return (pairs / (cos * cos + sin * sin)[..., None]).flatten(-2)

    def round_trips(self) -> bool:
        """Whether the inverse undoes the rotation, tried on noise."""
        generator = torch.Generator().manual_seed(0)
        noise = torch.randn(1, self.cos.shape[-2], self.stop - self.start, generator=generator).to(self.cos.device)
        return bool((self.invert(self.apply(noise)) - noise).abs().max() < ROUND_TRIP_TOLERANCE)

    def unrotate(self, x: Tensor) -> Tensor:
        """``[heads, tokens, d_head]`` before the rotation; what it leaves alone is passed through."""
        x = x.float()
        turned = self.invert(x[..., self.start : self.stop])
        return torch.cat([x[..., : self.start], turned, x[..., self.stop :]], dim=-1)


def _same_place(one: Tensor, other: Tensor) -> bool:
    return one.data_ptr() == other.data_ptr() and one.shape == other.shape and one.stride() == other.stride()


def _alike(mine: tuple[Any, ...], its: tuple[Any, ...]) -> bool:
    """Whether these are the same settings; tensors are only where they are the same object."""
    tensors = any(torch.is_tensor(one) for one in (*mine, *its))
    return len(mine) == len(its) and all(a is b or (not tensors and a == b) for a, b in zip(mine, its, strict=True))


def is_rotary(name: str) -> bool:
    return name.startswith("apply_") and ("rotary" in name or "rope" in name)


def watch_rotations(
    model: nn.Module,
    on_call: Callable[[RotaryCall], None],
    turn: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
) -> None:
    """Wrap the rotary functions of the model's modeling modules, once per process.

    ``on_call`` hears of each call; ``turn`` may replace its cosine and sine.
    """
    for name in {type(module).__module__ for module in model.modules()}:
        modeling = sys.modules.get(name)
        if modeling is None or not name.startswith("transformers.models."):
            continue
        for attribute, function in list(vars(modeling).items()):
            if is_rotary(attribute) and callable(function) and not hasattr(function, "watched"):
                setattr(modeling, attribute, _watched(function, on_call, turn))


def _watched(
    function: Callable[..., Any],
    on_call: Callable[[RotaryCall], None],
    turn: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
) -> Callable[..., Any]:
    def wrapper(q: Tensor, k: Tensor, *args: Any, **kwargs: Any) -> Any:
        options = dict(kwargs)
        given = [*args, *(options.pop(name) for name in ("cos", "sin") if name in options)] if kwargs else list(args)
        two_parts = len(given) >= 2 and _is_real(given[0]) and _is_real(given[1])
        if two_parts:
            given[:2] = turn(given[0], given[1])
        result = function(q, k, *given, **options)  # cos and sin come first wherever they are given by name
        cos_sin = (given[0], given[1]) if two_parts else None
        on_call(RotaryCall(function, cos_sin, tuple(given[2:]), options, result[0]))
        return result

    wrapper.watched = function  # type: ignore[attr-defined]  # marks it, so that it is never wrapped twice
    wrapper.__name__ = getattr(function, "__name__", "rotary")
    return wrapper


def _is_real(part: Any) -> bool:
    return isinstance(part, Tensor) and not part.is_complex()


def find_rotation(
    calls: list[RotaryCall], q: Float[Tensor, "heads queries d_head"], known: Iterable[Rotation] = ()
) -> Rotation | str | None:
    """The rotation among ``calls`` whose output is (a slice of) this ``q``; None: no call; a text: why not.

    ``known`` are rotations that other layers were found to have: one of them need not be tried again.
    """
    if not calls:
        return None
    found = find_call(calls, q)
    if found is None:
        return N_("queries are changed again after the rotation")
    return next((rotation for rotation in known if rotation.is_of(*found)), None) or invertible(*found)


def find_call(calls: list[RotaryCall], q: Float[Tensor, "heads queries d_head"]) -> tuple[RotaryCall, int, int] | None:
    """The last call whose output is a slice of this ``q``, and where that slice of d_head starts and stops."""
    for call in reversed(calls):
        turned = call.rotated_q
        if turned.dim() != 4 or turned.shape[1:3] != q.shape[:2] or turned.shape[-1] > q.shape[-1]:
            continue
        width = turned.shape[-1]
        for start in (0, q.shape[-1] - width):
            if torch.equal(turned[0, :, -1].to(q.dtype), q[:, -1, start : start + width]):
                return call, start, start + width
    return None


def invertible(call: RotaryCall, start: int, stop: int) -> Rotation | str:
    """The rotation of a call that turned this slice of d_head, once its inverse was tried; a text: why not."""
    if call.cos_sin is None:
        return N_("the rotation is not given as a cosine and a sine")
    name = getattr(call.function, "__name__", "")
    rotation = Rotation(call.function, *call.cos_sin, call.rest, call.options, start, stop, "interleave" in name)
    return rotation if rotation.round_trips() else N_("its inverse does not undo it")
