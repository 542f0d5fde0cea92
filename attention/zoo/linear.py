"""Linear attention (Katharopoulos et al. 2020, arXiv:2006.16236): the feature map is elu(x) + 1."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import elu

from attention.zoo import kernel
from attention.zoo.head import Head


def features(x: Float[Tensor, "tokens d_head"]) -> Float[Tensor, "tokens d_head"]:
    """Positive everywhere: x + 1 above 0, eˣ below."""
    return elu(x) + 1


def weights(head: Head) -> Float[Tensor, "tokens tokens"]:
    return kernel.weights(features(head.q), features(head.k), head.keep)


def output(head: Head) -> Float[Tensor, "tokens d_value"]:
    return kernel.mix(features(head.q), features(head.k), head.v, head)


def multiply_adds(n_tokens: int, d_head: int) -> int:
    return kernel.multiply_adds(n_tokens, d_head, d_head)
