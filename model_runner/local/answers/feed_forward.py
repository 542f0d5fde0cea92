"""How a layer's feed-forward part works, found by trying which function of its matrices' outputs its last matrix reads.

Plain: ``down(act(up(x)))``; gated: ``down(act(gate(x)) · up(x))``, gate and up by themselves or halves of one matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from attention.activations import ACTIVATIONS
from model_runner.local.answers.block_path import BlockPath
from model_runner.local.answers.block_probe import Event, LayerRun

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


def feed_forward(run: LayerRun, outside: tuple[str, ...], path: BlockPath | None) -> FeedForward | None:
    """Of one layer; None where no such function explains it, or not alone. ``outside`` are modules that are no part."""
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
    """Whether what the last matrix makes is all that is added, or all that a norm of it reads: no experts beside it."""
    last = path.parts[-1] if path is not None and len(path.parts) > 1 else None
    part = next((event for event in run.events if event.name == last), None)
    if last is None or part is None or not part.given:
        return True
    rows, made = run.stream(part.made if _within(down.name, (last,)) else part.given[0]), run.stream(down.made)
    return rows is None or made is None or float((rows - made).abs().max()) <= NEAR * float(rows.abs().max())


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


def _is_matrix(module: nn.Module) -> bool:
    return isinstance(module, (nn.Linear, Conv1D))


def _within(name: str, outside: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in outside)


def _rows(tensor: Tensor) -> Tensor:
    return tensor.reshape(-1, tensor.shape[-1]).float()
