"""The structure of a layer's feed-forward network, found by testing which function of its matrices' outputs feeds the
last.

Plain: ``down(act(up(x)))``; gated: ``down(act(gate(x)) · up(x))``, with gate and up as separate matrices or halves of
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attention.activations import ACTIVATIONS
from model_runner.local.answers.block_path import BlockPath
from model_runner.local.answers.block_probe import Event, LayerRun

NEAR = 1e-4  # of the largest number: some activations are similar, and the first that fits is the closest


@dataclass(frozen=True)
class Half:
    """A matrix's output, or one of its two halves; None: all of it."""

    module: str
    half: int | None = None

    def of(self, made: Tensor) -> Tensor:
        return made if self.half is None else made.chunk(2, dim=-1)[self.half]


@dataclass(frozen=True)
class FeedForward:
    """Modules by their names in the layer; ``up`` None: not gated. ``activation`` is one of ACTIVATIONS."""

    width: int
    gate: Half
    up: Half | None
    down: str
    activation: str


def feed_forward(run: LayerRun, outside: tuple[str, ...], path: BlockPath | None) -> FeedForward | None:
    """For one layer; None if no such function explains it fully. ``outside`` are modules that do not belong to it."""
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
            return best[1] if _alone(run, down, path) else None
    return None


def _alone(run: LayerRun, down: Event, path: BlockPath | None) -> bool:
    """True if the last matrix's output is all that is added, or all that a norm reads: no parallel experts."""
    last = path.parts[-1] if path is not None and len(path.parts) > 1 else None
    part = next((event for event in run.events if event.name == last), None)
    if last is None or part is None or not part.given:
        return True
    rows, made = run.stream(part.made if _within(down.name, (last,)) else part.given[0]), run.stream(down.made)
    return rows is None or made is None or float((rows - made).abs().max()) <= NEAR * float(rows.abs().max())


def _ways(
    matrices: list[Event], down: Event, read: Tensor, act: Callable[[Tensor], Tensor]
) -> Iterator[tuple[Half, Half | None, Tensor]]:
    """Candidates for the last matrix's input: of one matrix, of two, or of the halves of one."""
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


def _is_matrix(module: nn.Module) -> bool:
    return isinstance(module, (nn.Linear, Conv1D))


def _within(name: str, outside: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in outside)


def _rows(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1, tensor.shape[-1]).float()
