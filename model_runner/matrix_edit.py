"""An edit of a weight matrix that multiplies its largest singular values by factors (Transformer²)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from model_runner.errors import N_, EditNotPossible
from model_runner.question import Question

MOST = 16  # singular values of a matrix that can be scaled
NAME = re.compile(r"\w+(\.\w+)*")
CHANGED = N_("one of its weight matrices is edited, and this reads the matrices as they were")


@dataclass(frozen=True)
class ScaledSingulars:
    """Multiplies the first singular values of a layer's matrix, in descending order, by ``factors``; others are
    unchanged.

    W = U Σ Vᵀ becomes U Σ diag(z) Vᵀ (Sun et al. 2025, arXiv:2501.06252, eq. 1). ``matrix`` is the name of a linear
    module in the layer, such as ``self_attn.q_proj``. Raises EditNotPossible for no factors, too many, or a non-finite
    one.
    """

    layer: int
    matrix: str
    factors: tuple[float, ...]

    def __post_init__(self) -> None:
        if NAME.fullmatch(self.matrix) is None:
            raise EditNotPossible(reason=N_("a matrix has the name of a module"))
        if not 1 <= len(self.factors) <= MOST:
            raise EditNotPossible(reason=N_("only the first 1 to 16 singular values of a matrix can be scaled"))
        if not all(map(math.isfinite, self.factors)):
            raise EditNotPossible(reason=N_("a singular value can only be multiplied by a finite number"))


@dataclass(frozen=True, eq=False)
class Singulars:
    """The names of a layer's linear modules, and all singular values of the requested one, in descending order."""

    names: tuple[str, ...]
    name: str
    sizes: Float[Tensor, "values"]


@dataclass(frozen=True)
class SingularValues(Question[Singulars]):
    """Asks for the singular values of a layer's matrix; "" is its first. Raises NoSuchPlace, EditNotPossible.

    The decomposition of a matrix is computed once, in O(rows · columns · min(rows, columns)).
    """

    layer: int
    matrix: str = ""
