"""PolaFormer (Meng et al. 2025, arXiv:2501.15061): entries of the same sign and of opposite signs each have a map.

A ReLU kernel drops what is negative. Here a vector is its positive and its negative part, each raised to a power; the
first half of the values is mixed by entries of the same sign, the second by those of opposite signs. Each half is then
multiplied by a gate, Gˢ and Gᵒ. In the paper they are learned, a number of every token and dimension; here one number
each, 1 the neutral one. The learned convolution that follows is no part of it here.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import relu

from attention.zoo import kernel
from attention.zoo.head import Head


def parts(x: Float[Tensor, "tokens d_head"], power: float) -> tuple[Tensor, Tensor]:
    """The positive part and the size of the negative one, each to the power."""
    return relu(x) ** power, relu(-x) ** power


def features(head: Head, power: float, opposite: int) -> tuple[Tensor, Tensor]:
    """Features of queries and keys whose products are of the same sign, or of ``opposite`` ones."""
    (q_plus, q_minus), (k_plus, k_minus) = parts(head.q, power), parts(head.k, power)
    q = (q_minus, q_plus) if opposite else (q_plus, q_minus)
    return torch.cat(q, dim=1), torch.cat([k_plus, k_minus], dim=1)


def weights(
    head: Head, power: float, opposite: int, gate_same: float = 1.0, gate_opposite: float = 1.0
) -> Float[Tensor, "tokens tokens"]:
    """The map of the first half of the values, or with ``opposite`` that of the second, times its gate."""
    gate = gate_opposite if opposite else gate_same
    return gate * kernel.weights(*features(head, power, opposite), head.keep)


def output(
    head: Head, power: float, opposite: int, gate_same: float = 1.0, gate_opposite: float = 1.0
) -> Float[Tensor, "tokens d_value"]:
    """Both halves, whichever map is asked for."""
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
