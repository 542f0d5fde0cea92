"""How a layer adds to the residual stream, found by testing which of its modules' outputs explain the sum.

Nothing is assumed about a family. A layer either adds the outputs of its two parts (three with cross-attention) to its
input, with norms before them or between them and the sum, or it applies a norm to each sum (post-norm). A layer that
neither explains is a single step.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model_runner.local.answers.attribution import ROUNDINGS, factors_of
from model_runner.local.answers.block_probe import Event, LayerRun


@dataclass(frozen=True)
class BlockPath:
    """``leaving = skip · entering + Σ factor · part``, for parts by name; with ``norms``, each sum goes through one.

    ``parallel``: the second part does not see what the first added.
    """

    parts: tuple[str, ...]
    factors: tuple[float, ...]
    skip: float = 1.0
    norms: tuple[str, ...] = ()
    parallel: bool = False


def block_paths(runs: Sequence[LayerRun], attention: Sequence[str | None]) -> tuple[BlockPath | None, ...]:
    """The path of every layer, None if it is not found; ``attention`` are names of modules within their layer.

    A path that was found is tried first in later layers.
    """
    found: list[BlockPath | None] = []
    for run, name in zip(runs, attention, strict=True):
        found.append(block_path(run, name, next((path for path in reversed(found) if path), None)))
    return tuple(found)


def block_path(run: LayerRun, attention: str | None, known: BlockPath | None) -> BlockPath | None:
    """The path of one layer. ``attention`` is its module's name, ``known`` another layer's path.

    Of a pair, the first is the token mixer.
    """
    made = _distinct(run)
    if known is not None and not known.norms:
        own = [(event, tensor) for event, tensor in made if event.name in known.parts]
        if len(own) == len(known.parts) and (found := _summed(run, _in_order(run, own, attention), plain=False)):
            return found
    for plain in (True, False):
        for n_parts in (2, 3, 1) if plain else (2, 1):
            for some in itertools.combinations(made, n_parts):
                if found := _summed(run, _in_order(run, some, attention), plain=plain):
                    return found
        if plain and (found := _post_norm(run, made)):
            return found
    return None


def _in_order(
    run: LayerRun, some: Sequence[tuple[Event, Tensor]], attention: str | None
) -> tuple[tuple[Event, Tensor], ...]:
    """Attention first, as a parallel part may run before it; last, what was made before the layer started."""
    before = [event.name for event in run.events[: run.inherited]]
    return tuple(sorted(some, key=lambda one: (one[0].name != attention, one[0].name in before)))


def _distinct(run: LayerRun) -> list[tuple[Event, Tensor]]:
    """Module outputs with the stream's shape, de-duplicated; of equal ones the outermost with parameters."""
    found: list[tuple[Event, Tensor]] = []
    for event in run.events:
        rows = run.stream(event.made)
        if rows is None or torch.equal(rows, run.entering):
            continue
        equal = [(one, tensor) for one, tensor in found if torch.equal(tensor, rows)]
        if not equal or any(True for _ in event.module.parameters()):  # a dropout passes its input through
            found = [one for one in found if one not in equal]
            found.append((event, rows))
    return found


def _summed(run: LayerRun, some: tuple[tuple[Event, Tensor], ...], *, plain: bool) -> BlockPath | None:
    tensors = [run.entering, *(tensor for _, tensor in some)]
    if plain:
        factors = [1.0] * len(tensors) if _is_sum(run.leaving, tensors) else None
    else:
        factors = factors_of(run.leaving, tensors)
    if factors is None:
        return None
    names = tuple(event.name for event, _ in some)
    first = [factors[0] * run.entering, factors[1] * some[0][1]]
    heard = any(_is_share(rows, first) for rows in _given(run))
    return BlockPath(names, tuple(factors[1:]), factors[0], parallel=len(some) > 1 and not heard)


def _is_share(rows: Tensor, parts: list[Tensor]) -> bool:
    """True if the rows are a multiple of the sum: a factor at the layer's end is not applied to them yet."""
    whole = sum((part.double() for part in parts), torch.zeros((), dtype=torch.float64))
    times = float((rows.double() * whole).sum() / whole.square().sum())
    return times != 0 and _is_sum(rows, [times * part for part in parts])


def _given(run: LayerRun) -> Iterator[Tensor]:
    for event in run.events:
        for tensor in event.given:
            rows = run.stream(tensor) if tensor.is_floating_point() else None
            if rows is not None:
                yield rows


def _post_norm(run: LayerRun, made: list[tuple[Event, Tensor]]) -> BlockPath | None:
    """Two sums, each followed by a norm; the second norm's output is the layer's."""
    leaves = {event.name: (rows, run.stream(event.given[0])) for event, rows in _leaves(run)}
    last = next((name for name, (rows, _) in leaves.items() if torch.equal(rows, run.leaving)), None)
    if last is None:
        return None
    second_sum = leaves[last][1]
    for name, (middle, first_sum) in leaves.items():
        if name == last or first_sum is None or second_sum is None:
            continue
        second = next((one.name for one, rows in made if _is_sum(second_sum, [middle, rows])), None)
        first = next((one.name for one, rows in made if _is_sum(first_sum, [run.entering, rows])), None)
        if first is not None and second is not None:
            return BlockPath((first, second), (1.0, 1.0), norms=(name, last))
    return None


def _leaves(run: LayerRun) -> Iterator[tuple[Event, Tensor]]:
    """Leaf modules whose single input and output have the stream's shape and differ."""
    for event in run.events:
        rows = run.stream(event.made)
        if rows is None or not event.given or list(event.module.children()):
            continue
        if run.stream(event.given[0]) is not None and not torch.equal(event.given[0], event.made):
            yield event, rows


def _is_sum(total: Tensor, parts: list[Tensor]) -> bool:
    size = total.abs() + sum(part.abs() for part in parts)
    found = sum(part.double() for part in parts)
    return bool(((total.double() - found).abs() <= ROUNDINGS * torch.finfo(total.dtype).eps * size).all())
