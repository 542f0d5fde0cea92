"""Applies edits of weight matrices' singular values by adding to the modules' outputs; the weights are unchanged."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.errors import N_, EditNotPossible, NoSuchPlace, Reason
from model_runner.layer_origin import LayerOrigin
from model_runner.matrix_edit import MOST, ScaledSingulars, Singulars, SingularValues

NO_MATRIX = N_("layer {layer} has no linear module named {matrix}; it has {names}")


@dataclass(frozen=True, eq=False)
class Decomposed:
    """All singular values of a matrix, in descending order, and the first ``MOST`` singular vectors of either side."""

    left: Float[Tensor, "rows few"]
    sizes: Float[Tensor, "values"]
    right: Float[Tensor, "few columns"]


@dataclass(frozen=True, eq=False)
class ChangedMatrix:
    """``left @ right`` is what the edit adds to the module's matrix, as it multiplies columns.

    For a module that runs ``runs`` times in a forward, this applies only to run number ``run``.
    """

    module: nn.Module
    left: Float[Tensor, "rows few"]
    right: Float[Tensor, "few columns"]
    run: int = 0
    runs: int = 1

    def hook(self) -> Callable[[nn.Module, tuple[Any, ...], Tensor], Tensor]:
        """A hook for one forward, which adds the changed part to the module's output in its run."""
        calls = itertools.count()

        def add(_: nn.Module, args: tuple[Any, ...], output: Tensor) -> Tensor:
            return self._add(args, output) if next(calls) % self.runs == self.run else output

        return add

    def _add(self, args: tuple[Any, ...], output: Tensor) -> Tensor:
        part = (args[0].to(self.right.dtype) @ self.right.T) @ self.left.T
        return (output.to(part.dtype) + part).to(output.dtype)


Known = MutableMapping[int, Decomposed]
"""Decompositions by the id of the module, which lives as long as its model."""


def changed_matrices(
    edits: Iterable[object], layers: Sequence[nn.Module], known: Known, origins: Sequence[LayerOrigin] = ()
) -> tuple[ChangedMatrix, ...]:
    """The changed matrices of these edits; ``origins`` are those of the layers.

    Raises NoSuchPlace, EditNotPossible if an edit does not fit them.
    """
    found: dict[tuple[int, int], ChangedMatrix] = {}
    for edit in edits:
        if not isinstance(edit, ScaledSingulars):
            continue
        module = _matrices(layers, edit.layer).get(edit.matrix)
        if module is None:
            raise EditNotPossible(reason=_missing(layers, edit.layer, edit.matrix))
        run, runs = (origins[edit.layer].run, origins[edit.layer].runs) if origins else (0, 1)
        if (id(module), run) in found:
            raise EditNotPossible(reason=N_("a matrix is changed twice"))
        parts = decomposed(module, known)
        count = min(len(edit.factors), len(parts.sizes))
        more = torch.tensor(edit.factors[:count], dtype=parts.sizes.dtype, device=parts.sizes.device) - 1
        left = parts.left[:, :count] * (more * parts.sizes[:count])
        found[id(module), run] = ChangedMatrix(module, left, parts.right[:count], run, runs)
    return tuple(found.values())


@contextlib.contextmanager
def added(changed: Iterable[ChangedMatrix]) -> Generator[None]:
    """Inside the block, the modules compute with their changed matrices."""
    # first, since other hooks read the output too
    hooks = [one.module.register_forward_hook(one.hook(), prepend=True) for one in changed]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def singulars(asked: SingularValues, layers: Sequence[nn.Module], known: Known) -> Singulars:
    """The singular values asked for. Raises NoSuchPlace, EditNotPossible."""
    found = _matrices(layers, asked.layer)
    name = asked.matrix or next(iter(found), "")
    if name not in found:
        raise EditNotPossible(reason=_missing(layers, asked.layer, name))
    return Singulars(tuple(found), name, decomposed(found[name], known).sizes.float().cpu())


def decomposed(module: nn.Module, known: Known) -> Decomposed:
    """Decompose the matrix that multiplies columns, in float64; the result is at least float32."""
    if id(module) not in known:
        weight: Any = module.weight
        matrix = weight.detach().T if isinstance(module, Conv1D) else weight.detach()
        parts = torch.linalg.svd(matrix.double(), full_matrices=False)
        left, sizes, right = (one.to(torch.promote_types(matrix.dtype, torch.float32)) for one in parts)
        known[id(module)] = Decomposed(left[:, :MOST].clone(), sizes, right[:MOST].clone())
    return known[id(module)]


def _matrices(layers: Sequence[nn.Module], layer: int) -> dict[str, nn.Module]:
    if not 0 <= layer < len(layers):
        raise NoSuchPlace(what=N_("layer"), value=layer, count=len(layers))
    return {name: one for name, one in layers[layer].named_modules() if name and isinstance(one, (nn.Linear, Conv1D))}


def _missing(layers: Sequence[nn.Module], layer: int, matrix: str) -> Reason:
    names = ", ".join(_matrices(layers, layer)) or "–"
    return Reason(NO_MATRIX, {"layer": layer, "matrix": matrix or "–", "names": names})
