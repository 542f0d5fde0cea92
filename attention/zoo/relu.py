"""ReLU linear attention, as in the SANA image model (Xie et al. 2024, arXiv:2410.10629)."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import relu

from attention.zoo import kernel
from attention.zoo.head import Head


def weights(head: Head) -> Float[Tensor, "tokens tokens"]:
    """A query without a positive entry in common with any key has a zero row."""
    return kernel.weights(relu(head.q), relu(head.k), head.keep)


def output(head: Head) -> Float[Tensor, "tokens d_value"]:
    return kernel.mix(relu(head.q), relu(head.k), head.v, head)


def multiply_adds(n_tokens: int, d_head: int) -> int:
    return kernel.multiply_adds(n_tokens, d_head, d_head)
