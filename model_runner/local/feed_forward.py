"""How a layer's feed-forward part works, found by trying which function of its matrices' outputs its last matrix reads.

Plain: ``down(act(up(x)))``; gated: ``down(act(gate(x)) · up(x))``, gate and up by themselves or halves of one matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attention.activations import ACTIVATIONS
from model_runner.local.block_probe import Event, LayerRun

NEAR = 1e-4  # of the largest number: some activations are near each other, and the first that fits is the closest


@dataclass(frozen=True)
class Half:
    """What a matrix makes, or one of the two halves of it; None: all of it."""

    module: str
    half: int | None = None

    def of(self, made: Tensor) -> Tensor:
        return made if self.half is None else made.chunk(2, dim=-1)[self.half]


@dataclass(frozen=True)
class FeedForward:
    """Modules by their names in the layer; ``up`` None: it is not gated. ``activation`` is one of ACTIVATIONS."""

    width: int
    gate: Half
    up: Half | None
    down: str
    activation: str


@dataclass(frozen=True)
class Experts:
    """A module that is told which of its experts each token goes to: ``picks`` and ``weights`` are [tokens, used]."""

    module: str
    n_experts: int
    n_used: int


def feed_forward(run: LayerRun, outside: tuple[str, ...]) -> FeedForward | None:
    """Of one layer; None where no such function explains it. ``outside``: names of modules that are no part of it."""
    matrices = [event for event in run.events if _is_matrix(event.module) and not _within(event.name, outside)]
    for down in reversed(matrices):
        read = _rows(down.given[0]) if down.given else None
        if run.stream(down.made) is None or read is None:
            continue
        best: tuple[float, FeedForward] | None = None
        for name, act in ACTIVATIONS.items():
            for gate, up, made in _ways(matrices, down, read, act):
                error = float((made - read).abs().max() / read.abs().max())
                if error <= NEAR and (best is None or error < best[0]):
                    best = error, FeedForward(read.shape[-1], gate, up, down.name, name)
        if best is not None:
            return best[1]
    return None


def _ways(
    matrices: list[Event], down: Event, read: Tensor, act: Callable[[Tensor], Tensor]
) -> Iterator[tuple[Half, Half | None, Tensor]]:
    """What the last matrix would read: of one matrix, of two, or of the halves of one."""
    wide = [(event.name, _rows(event.made)) for event in matrices if event is not down]
    whole = [(name, made) for name, made in wide if made.shape == read.shape]
    for name, made in whole:
        yield Half(name), None, act(made)
        for other, also in whole:
            if other != name:
                yield Half(name), Half(other), act(made) * also
    for name, made in wide:
        if made.shape == (len(read), 2 * read.shape[-1]):
            first, second = made.chunk(2, dim=-1)
            yield Half(name, 0), Half(name, 1), act(first) * second
            yield Half(name, 1), Half(name, 0), act(second) * first


def experts_of(run: LayerRun) -> Experts | None:
    """The module with experts, if it is told by whole numbers which token goes to which."""
    for event in run.events:
        picks = picks_in(event.given, len(run.entering))
        if picks is None:
            continue
        stacked = [len(parameter) for parameter in event.module.parameters(recurse=False) if parameter.dim() == 3]
        listed = [len(list(child.children())) for child in event.module.modules() if isinstance(child, nn.ModuleList)]
        n_experts = next(iter(stacked + listed), 0) or getattr(event.module, "num_experts", 0)
        if n_experts > int(picks[0].max()):
            return Experts(event.name, n_experts, picks[0].shape[-1])
    return None


def picks_in(given: tuple[Any, ...], n_tokens: int) -> tuple[Tensor, Tensor] | None:
    """Which experts each token goes to and with what weight, both [tokens, used], among what a module is given."""
    tensors = [one for one in given if torch.is_tensor(one) and one.dim() == 2 and len(one) == n_tokens]
    for picks in tensors:
        if picks.is_floating_point() or picks.dtype == torch.bool:
            continue
        for weights in tensors:
            if weights.is_floating_point() and weights.shape == picks.shape:
                return picks, weights
            if weights.is_floating_point() and weights.shape[-1] > int(picks.max()) and weights.shape[-1] <= 1024:
                return picks, weights.gather(-1, picks)
    return None


def _is_matrix(module: nn.Module) -> bool:
    return isinstance(module, (nn.Linear, Conv1D))


def _within(name: str, outside: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in outside)


def _rows(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1, tensor.shape[-1]).float()
