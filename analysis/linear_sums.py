"""A head's queries, keys and values in linear attention, in both orders of its products and in Lightning's blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention.zoo import lightning, linear
from attention.zoo.head import Head
from model_runner.errors import NotSeparable

N_ = str  # marks a text for Babel without translating it here

OTHER_TEXT = N_("its tokens look at another text, and this picture is of a text that looks at itself")


@dataclass(frozen=True, eq=False)
class LinearSums:
    """Row i of the output is Σ ``decay``^(i − j) (q_i·k_j) v_j, divided by the sum of its weights if it ``divides``."""

    q: Float[np.ndarray, "tokens d_head"]
    k: Float[np.ndarray, "tokens d_head"]
    v: Float[np.ndarray, "tokens d_value"]
    causal: bool
    decay: float = 1.0
    divides: bool = False


@dataclass(frozen=True)
class OrderCost:
    """One order of the two products: the size of the intermediate result, and their multiply-adds."""

    between: int
    multiply_adds: int


def linear_sums(head: Head) -> LinearSums:
    """With elu(x) + 1 (Katharopoulos et al. 2020); a head that masks more than the future is treated as causal.

    Raises NotSeparable.
    """
    if head.elsewhere:
        raise NotSeparable(reason=OTHER_TEXT)
    q, k = (linear.features(one).numpy() for one in (head.q, head.k))
    return LinearSums(q, k, head.v.numpy(), causal=not head.sees_all or head.n_tokens == 1, divides=True)


def lightning_sums(head: Head, half_life: int) -> LinearSums:
    """With q·k/√d and a decay (Qin et al. 2024)."""
    q = (head.q * head.scale).numpy()
    return LinearSums(q, head.k.numpy(), head.v.numpy(), causal=True, decay=lightning.decay_of(half_life))


def left_first(n_tokens: int, d: int, d_value: int) -> OrderCost:
    """(Q Kᵀ) V: the intermediate result is a map of all pairs."""
    return OrderCost(n_tokens**2, n_tokens**2 * (d + d_value))


def right_first(n_tokens: int, d: int, d_value: int) -> OrderCost:
    """Q (Kᵀ V): the intermediate result is a state."""
    return OrderCost(d * d_value, 2 * n_tokens * d * d_value)
