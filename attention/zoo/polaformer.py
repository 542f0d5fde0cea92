"""PolaFormer (Meng et al. 2025, arXiv:2501.15061): separate maps for entries of equal and of opposite signs.

A ReLU kernel drops negative entries. Here a vector is split into its positive and its negative part, each raised to a
power; the first half of the values is weighted by entries of equal sign, the second by those of opposite signs. Each
half is multiplied by a gate, Gˢ and Gᵒ. The paper learns them for every token and dimension; here each is one number, 1
being neutral. The learned convolution that follows is left out.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import relu

from attention.zoo import kernel
from attention.zoo.head import Head


def parts(x: Float[Tensor, "tokens d_head"], power: float) -> tuple[Tensor, Tensor]:
    """The positive part and the magnitude of the negative one, each raised to the power."""
    return relu(x) ** power, relu(-x) ** power


def features(head: Head, power: float, opposite: int) -> tuple[Tensor, Tensor]:
    """Features of queries and keys whose products have equal signs, or ``opposite`` ones."""
    (q_plus, q_minus), (k_plus, k_minus) = parts(head.q, power), parts(head.k, power)
    q = (q_minus, q_plus) if opposite else (q_plus, q_minus)
    return torch.cat(q, dim=1), torch.cat([k_plus, k_minus], dim=1)


def weights(
    head: Head, power: float, opposite: int, gate_same: float = 1.0, gate_opposite: float = 1.0
) -> Float[Tensor, "tokens tokens"]:
    """The map of the first half of the values or, with ``opposite``, of the second, times its gate."""
    gate = gate_opposite if opposite else gate_same
    return gate * kernel.weights(*features(head, power, opposite), head.keep)


def output(
    head: Head, power: float, opposite: int, gate_same: float = 1.0, gate_opposite: float = 1.0
) -> Float[Tensor, "tokens d_value"]:
    """Both halves, whichever map is requested."""
    first, second = head.v.chunk(2, dim=1) if head.v.shape[1] > 1 else (head.v, head.v[:, :0])
    return torch.cat(
        [
            gate_same * kernel.mix(*features(head, power, 0), first, head),
            gate_opposite * kernel.mix(*features(head, power, 1), second, head),
        ],
        dim=1,
    )


def multiply_adds(n_tokens: int, d_head: int, power: float, opposite: int, **_gates: float) -> int:
    half = d_head // 2
    return 2 * kernel.multiply_adds(n_tokens, half, 2 * d_head)  # half of the values each
