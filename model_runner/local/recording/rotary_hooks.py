"""Wraps a model's rotary functions while a capture records, and determines which coordinates they rotate together.

Nothing here is specific to a family. A rotary function is linear in the vector it rotates, so applying it to unit
vectors with chosen cosines and sines reveals its layout. The result is tested on noise against the function, in both
directions, before it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.errors import N_
from model_runner.rotary import Rotation

ROUND_TRIP_TOLERANCE = 1e-4  # for unit-variance noise in float32: cos² + sin² divides errors of a few eps
NOT_IN_PAIRS = N_("it does not turn coordinates in pairs")


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

    def turned(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """The model's own function on ``[heads, tokens, rotated]`` with these cosines and sines, in float32."""
        return self.function(x[None], x[None], cos.float(), sin.float(), *self.rest, **self.options)[0][0]


@dataclass(frozen=True, eq=False)
class InferredRotation:
    """A rotation with the call it was determined from, so that the same call in another layer is not analyzed."""

    rotation: Rotation
    call: RotaryCall  # without its q

    def is_of(self, call: RotaryCall, start: int, stop: int) -> bool:
        """Whether this call rotated the same slice by the very same cosines and sines."""
        own = self.call
        return (
            call.cos_sin is not None
            and own.cos_sin is not None
            and (own.function, self.rotation.start, self.rotation.stop) == (call.function, start, stop)
            and own.options.keys() == call.options.keys()
            and _alike((*own.rest, *own.options.values()), (*call.rest, *call.options.values()))
            and all(_same_place(mine, its) for mine, its in zip(own.cos_sin, call.cos_sin, strict=True))
        )


def is_rotary(name: str) -> bool:
    return name.startswith("apply_") and ("rotary" in name or "rope" in name)


def hook_rotary(
    model: nn.Module,
    on_call: Callable[[RotaryCall], None],
    edit: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
) -> None:
    """Wrap the rotary functions of the model's modeling modules, once per process.

    ``on_call`` receives each call; ``edit`` may replace its cosine and sine.
    """
    for name in {type(module).__module__ for module in model.modules()}:
        modeling = sys.modules.get(name)
        if modeling is None or not name.startswith("transformers.models."):
            continue
        for attribute, function in list(vars(modeling).items()):
            if is_rotary(attribute) and callable(function) and not hasattr(function, "watched"):
                setattr(modeling, attribute, _watched(function, on_call, edit))


def _watched(
    function: Callable[..., Any],
    on_call: Callable[[RotaryCall], None],
    edit: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
) -> Callable[..., Any]:
    def wrapper(q: Tensor, k: Tensor | None = None, *args: Any, **kwargs: Any) -> Any:
        if k is None:  # for a single vector: an indexer's query before attention, not part of a capture
            return function(q, *args, **kwargs)
        options = dict(kwargs)
        given = [*args, *(options.pop(name) for name in ("cos", "sin") if name in options)] if kwargs else list(args)
        two_parts = len(given) >= 2 and _is_real(given[0]) and _is_real(given[1])
        if two_parts:
            given[:2] = edit(given[0], given[1])
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
    calls: list[RotaryCall], q: Float[Tensor, "heads queries d_head"], known: Iterable[InferredRotation] = ()
) -> InferredRotation | str | None:
    """The rotation among ``calls`` whose output contains this ``q`` as a slice; None: no call; a str: why not.

    ``known`` are rotations found in other layers, which need not be tested again.
    """
    if not calls:
        return None
    found = find_call(calls, q)
    if found is None:
        return N_("queries are changed again after the rotation")
    return next((one for one in known if one.is_of(*found)), None) or read_rotation(*found)


def find_call(calls: list[RotaryCall], q: Float[Tensor, "heads queries d_head"]) -> tuple[RotaryCall, int, int] | None:
    """The last call whose output contains this ``q`` as a slice, with the start and stop of that slice of d_head."""
    for call in reversed(calls):
        turned = call.rotated_q
        if turned.dim() != 4 or turned.shape[1:3] != q.shape[:2] or turned.shape[-1] > q.shape[-1]:
            continue
        width = turned.shape[-1]
        for start in (0, q.shape[-1] - width):
            if torch.equal(turned[0, :, -1].to(q.dtype), q[:, -1, start : start + width]):
                return call, start, start + width
    return None


def read_rotation(call: RotaryCall, start: int, stop: int) -> InferredRotation | str:
    """The rotation of a call that rotated this slice of d_head, after a test; a str: why it cannot be determined."""
    if call.cos_sin is None:
        return N_("the rotation is not given as a cosine and a sine")
    rotation = _read(call, call.cos_sin, start, stop)
    if rotation is None:
        return NOT_IN_PAIRS
    if not _stands(rotation, call):
        return N_("its inverse does not undo it")
    return InferredRotation(rotation, replace(call, rotated_q=call.rotated_q[:, :, :0]))


def _read(call: RotaryCall, cos_sin: tuple[Tensor, Tensor], start: int, stop: int) -> Rotation | None:
    """Which coordinate moves where; None if the function does not rotate coordinates in pairs.

    With sine 0, a unit vector arrives at its coordinate's target, multiplied by the number we put into its column of
    the cosine. With cosine 0, it arrives at its partner's place, with a sign that tells which of the two is first. A
    coordinate that is passed through keeps its 1.
    """
    cos, width = cos_sin[0], stop - start
    columns = (torch.arange(cos.shape[-1], dtype=torch.float32, device=cos.device) + 2).view(*[1] * (cos.dim() - 1), -1)
    unit_vectors, nothing = torch.eye(width, device=cos.device)[:, None], torch.zeros_like(columns)
    parts = ((nothing, nothing), (columns, nothing), (nothing, columns))
    passed, kept, crossed = (call.turned(unit_vectors, *cos_and_sin)[:, 0] for cos_and_sin in parts)
    crossed = crossed - passed
    if any(bool((part != 0).sum(dim=1).max() > 1) for part in (kept, crossed)) or not bool((kept != 0).any(1).all()):
        return None
    value, target = kept.max(dim=1)  # by input coordinate: its cosine column + 2, and its target
    sine, partner = crossed.abs().max(dim=1)
    first = (crossed.sum(dim=1) > 0).nonzero()[:, 0]
    coordinates = torch.arange(width, device=cos.device)
    came_from = torch.full_like(coordinates, -1).scatter(0, target, coordinates)
    second = came_from[partner[first]]
    source = torch.stack([first, second], dim=-1)
    pairs = target[source]
    if (
        len(first) == 0
        or bool((second < 0).any())
        or int((sine > 0).sum()) != 2 * len(first)
        or not torch.equal(partner[source], pairs.flip(-1))
        or bool((crossed.sum(dim=1)[second] >= 0).any())
        or bool((value[source] < 2).any())
    ):
        return None
    alone = (sine == 0).nonzero()[:, 0]
    return Rotation(
        cos=cos,
        sin=cos_sin[1],
        source=source,
        pairs=pairs,
        cos_columns=value[source].long() - 2,
        sin_columns=sine[source].long() - 2,
        passed=torch.stack([alone, target[alone]], dim=-1),
        start=start,
        stop=stop,
    )


def _stands(rotation: Rotation, call: RotaryCall) -> bool:
    """Whether noise is rotated as by the model's function, and recovered by the inverse."""
    generator = torch.Generator().manual_seed(0)
    cos = rotation.cos
    noise = torch.randn(1, cos.shape[-2], rotation.stop - rotation.start, generator=generator).to(cos.device)
    mine, its = rotation.apply(noise), call.turned(noise, cos, rotation.sin)
    off = torch.maximum((mine - its).abs(), (rotation.invert(its) - noise).abs())
    return bool(off.max() < ROUND_TRIP_TOLERANCE)


def _same_place(one: Tensor, other: Tensor) -> bool:
    return one.data_ptr() == other.data_ptr() and one.shape == other.shape and one.stride() == other.stride()


def _alike(mine: tuple[Any, ...], its: tuple[Any, ...]) -> bool:
    """Whether these are the same settings; tensors are compared by identity."""
    tensors = any(torch.is_tensor(one) for one in (*mine, *its))
    return len(mine) == len(its) and all(a is b or (not tensors and a == b) for a, b in zip(mine, its, strict=True))
