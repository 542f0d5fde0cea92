"""Runs the feed-forward parts of a long text one block of rows at a time, since their rows are independent.

The intermediate tensors of such a part are several times as wide as the stream: for all rows at once they would be the
largest temporary of a forward (benchmarks/capture_cost.py). Which parts of a layer qualify is tested with a few rows,
whatever their names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from model_runner.local.cancellation import pause
from model_runner.local.recording.parity_check import run
from model_runner.local.recording.residual_stream import Forward, standing_in

ROWS = 256  # rows in a block
ROWS_ON_GPU = 4096  # a GPU is idle between smaller ones (benchmarks/gpu_long_texts.py)
TRIED = 16  # rows
ROUNDING = 16  # units of the dtype, of the largest number: blocks of different sizes are summed in different orders


def is_long(n_tokens: int, device: torch.device) -> bool:
    """Whether blocks are worthwhile: for a shorter text, the temporaries are small beside the model."""
    return n_tokens > 2 * _block(device)


def _block(device: torch.device) -> int:
    return ROWS if device.type == "cpu" else ROWS_ON_GPU


@contextlib.contextmanager
def chunked_feed_forward(parts: Sequence[nn.Module]) -> Generator[None]:
    """Inside the block, these parts of a model process their rows in blocks."""
    with standing_in(parts, lambda _, forward: _in_blocks(forward)):
        yield


def row_wise_parts(model: Any, layers: Sequence[nn.Module], attention: frozenset[nn.Module]) -> tuple[nn.Module, ...]:
    """The parts of these layers that have a matrix, no attention, and rows that do not depend on each other.

    ``layers`` are those whose attention is in ``attention``: in another layer, a token mixer could be among its parts.
    """
    parts = [part for layer in layers for part in layer.children() if _is_candidate(part, attention)]
    seen: dict[nn.Module, tuple[tuple[Any, ...], Any]] = {}
    hooks = [part.register_forward_hook(lambda part, given, made: seen.update({part: (given, made)})) for part in parts]
    try:
        run(model, torch.arange(TRIED, device=model.device)[None])
    finally:
        for hook in hooks:
            hook.remove()
    with torch.no_grad():
        return tuple(part for part in parts if part in seen and _is_row_wise(part, *seen[part]))


def _is_candidate(part: nn.Module, attention: frozenset[nn.Module]) -> bool:
    return attention.isdisjoint(part.modules()) and any(weight.dim() > 1 for weight in part.parameters())


def _is_row_wise(part: nn.Module, given: tuple[Any, ...], made: Any) -> bool:
    """Whether it maps one tensor of rows to another, and changing half of the rows leaves the output of the rest
    unchanged.
    """
    if len(given) != 1 or not all(torch.is_tensor(one) and one.shape[:2] == (1, TRIED) for one in (given[0], made)):
        return False
    half, near = TRIED // 2, ROUNDING * torch.finfo(made.dtype).eps * made.abs().max()
    for changed, same in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
        other = given[0].clone()
        other[:, changed] = other[:, changed].flip(1, 2)
        if not ((part(other)[:, same] - made[:, same]).abs() <= near).all():
            return False
    return True


def _in_blocks(forward: Forward) -> Forward:
    def whole(hidden: Tensor) -> Tensor:
        rows = _block(hidden.device)
        first = forward(hidden[:, :rows])
        made = first.new_empty(*hidden.shape[:2], *first.shape[2:])
        made[:, :rows] = first
        for start in range(rows, hidden.shape[1], rows):
            pause()
            made[:, start : start + rows] = forward(hidden[:, start : start + rows])
        return made

    return whole
