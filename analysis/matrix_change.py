"""How far the matrices of one layer's heads differ between two models, such as with an adapter and without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from model_runner.errors import N_, NotSeparable
from model_runner.projection_questions import HeadMatrices

Norms = npt.NDArray[np.float64]
OTHER_SIZES = N_("the matrices of the two layers have other sizes, so they cannot be subtracted")


@dataclass(frozen=True, eq=False)
class MatrixChange:
    """For one matrix of each head: the norm of A − B, and the norm of B (Frobenius), per head or key/value head."""

    name: str
    difference: Norms
    size: Norms

    @property
    def share(self) -> Norms:
        """The difference relative to B; 0 if both are zero."""
        return np.divide(self.difference, self.size, out=np.zeros_like(self.size), where=self.size > 0)


def matrix_changes(a: HeadMatrices, b: HeadMatrices) -> tuple[MatrixChange, ...]:
    """W_Q, W_K, W_V, W_O, as far as both sides have them. Raises NotSeparable if sizes differ, or there are none."""
    found: list[MatrixChange] = []
    for name, one, two in (("W_Q", a.q, b.q), ("W_K", a.k, b.k), ("W_V", a.v, b.v), ("W_O", a.o, b.o)):
        if one is None or two is None:
            continue
        if one.shape != two.shape:
            raise NotSeparable(reason=OTHER_SIZES)
        found.append(MatrixChange(name, _norms(one - two), _norms(two)))
    if not found:
        raise NotSeparable(reason=N_("its queries, keys and values are not made by a matrix of each head"))
    return tuple(found)


def _norms(matrices: Tensor) -> Norms:
    return matrices.double().flatten(1).norm(dim=1).numpy()
