"""Attention that a model computes in two parts and combines itself: which heads are subtracted from which, and by how
much.

Nothing is inferred from names. The input of a norm inside the attention must be the difference of the two halves of the
heads' outputs, and the input of a later matrix must be that norm's output times one number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.errors import N_
from model_runner.head_difference import joined
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.record import LayerRecord

NOT_JOINED = N_("how it combines the two parts of its attention is not recognised")
ROUNDINGS = 16  # units of the dtype, of the largest number
EPS = ("eps", "variance_epsilon")


@dataclass(frozen=True, eq=False)
class HeadPairs:
    """What is the same for every text, see :class:`HeadDifference`; ``projection`` takes the combined output."""

    factor: float
    gain: float
    eps: float
    projection: nn.Module


def head_pairs(
    model: Any, records: Mapping[str, LayerRecord], parts: Mapping[str, int], forward: Callable[[], Any]
) -> dict[str, HeadPairs]:
    """How each module that attends in ``parts`` combines them; ``records`` are of the same forward.

    Raises CannotRecord.
    """
    given: dict[str, list[tuple[nn.Module, Tensor]]] = {name: [] for name in parts}

    def listen(events: list[tuple[nn.Module, Tensor]]) -> Any:
        def hook(module: nn.Module, args: tuple[Any, ...]) -> None:
            if args and torch.is_tensor(args[0]):
                events.append((module, args[0].clone()))

        return hook

    hooks = [
        module.register_forward_pre_hook(listen(given[name]))
        for name in parts
        for module in model.get_submodule(name).modules()
        if not list(module.children())
    ]
    try:
        forward()
    finally:
        for hook in hooks:
            hook.remove()
    return {name: _pairs(records[name], given[name]) for name in parts}


def _pairs(record: LayerRecord, given: list[tuple[nn.Module, Tensor]]) -> HeadPairs:
    n_heads = record.output.shape[1]
    if n_heads % 2:
        raise CannotRecord(NOT_JOINED)
    first, second = record.output.double().split(n_heads // 2, dim=1)
    fitting = [(module, x.reshape(first.shape)) for module, x in given if x.numel() == first.numel()]
    for norm, x in fitting:
        factor = float(((first - x.double()) * second).sum() / (second**2).sum())
        factor = float(torch.tensor(factor, dtype=record.output.dtype))  # as the model represents it
        eps = next((one for name in EPS if isinstance(one := getattr(norm, name, None), float)), None)
        if eps is None or not _near(first - factor * second, x):
            continue
        whole = joined(x.double(), 1.0, eps)
        for projection, y in fitting:
            gain = float((y.double() * whole).sum() / (whole**2).sum())
            if isinstance(projection, nn.Linear | Conv1D) and _near(gain * whole, y):
                return HeadPairs(factor, gain, eps, projection)
    raise CannotRecord(NOT_JOINED)


def _near(mine: Tensor, its: Tensor) -> bool:
    allowed = ROUNDINGS * torch.finfo(its.dtype).eps * float(its.abs().max())
    return bool(((mine - its.double()).abs() <= allowed).all())
