"""Moves what is recorded of a model on several devices, and its masks, to the device of its first layer."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import torch
from torch import Tensor

V = TypeVar("V")


def to_device(value: V, device: torch.device) -> V:
    """The same value with all of its tensors on the device; tensors that are already there are not copied."""
    return _at(value, device)


def _at(held: Any, device: torch.device) -> Any:
    if isinstance(held, Tensor):
        return held.to(device)
    if type(held) in (list, tuple):
        moved = [_at(one, device) for one in held]
        return held if all(a is b for a, b in zip(moved, held, strict=True)) else type(held)(moved)
    if type(held) is dict:
        return {key: _at(one, device) for key, one in held.items()}
    if dataclasses.is_dataclass(held) and not isinstance(held, type):
        values = {one.name: getattr(held, one.name) for one in dataclasses.fields(held) if one.init}
        changed = {name: _at(one, device) for name, one in values.items()}
        return (
            dataclasses.replace(held, **changed) if any(changed[name] is not values[name] for name in values) else held
        )
    return held


def cells_of(mask: Tensor, queries: int) -> Tensor | None:
    """Which cells ``[queries, keys]`` of one text a mask keeps; None if it is more than a boolean mask."""
    keep = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
    if mask.dtype != torch.bool and bool((mask[keep] != 0).any()):
        return None
    alike = keep.dim() == 4 and len(keep) == 1 and bool((keep == keep[:, :1]).all())
    return keep[0, 0].expand(queries, -1) if alike else None


def same_cells(made: Tensor, mask: Tensor) -> bool:
    """Whether one mask is a copy of the other, perhaps on another device."""
    return made.shape == mask.shape and made.dtype == mask.dtype and torch.equal(made.to(mask.device), mask)
