"""The sums of feed-forward units as arrays, with their activations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention.activations import ACTIVATIONS
from model_runner.block_questions import UnitSums


@dataclass(frozen=True, eq=False)
class SumArrays:
    """Like :class:`UnitSums`, in float64; ``active`` is the activation of ``before``."""

    read: Float[np.ndarray, "d_model"]
    gate: Float[np.ndarray, "d_model units"]
    gate_bias: Float[np.ndarray, "units"] | None
    before: Float[np.ndarray, "units"]
    active: Float[np.ndarray, "units"]
    up: Float[np.ndarray, "d_model units"] | None
    up_bias: Float[np.ndarray, "units"] | None
    raised: Float[np.ndarray, "units"] | None
    values: Float[np.ndarray, "units"]
    down: Float[np.ndarray, "units d_model"]
    down_bias: Float[np.ndarray, "d_model"] | None
    added: Float[np.ndarray, "d_model"]


def sum_arrays(found: UnitSums) -> SumArrays:
    """Convert to arrays."""
    return SumArrays(
        read=_array(found.read),
        gate=_array(found.gate),
        gate_bias=_maybe(found.gate_bias),
        before=_array(found.before),
        active=_array(ACTIVATIONS[found.activation](found.before.double())),
        up=_maybe(found.up),
        up_bias=_maybe(found.up_bias),
        raised=_maybe(found.raised),
        values=_array(found.values),
        down=_array(found.down),
        down_bias=_maybe(found.down_bias),
        added=_array(found.added),
    )


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.double().numpy()


def _maybe(tensor: Tensor | None) -> np.ndarray | None:
    return None if tensor is None else _array(tensor)
