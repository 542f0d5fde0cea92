"""cosFormer (Qin et al. 2022, arXiv:2202.08791): ReLU features, and a cosine that decreases with distance.

cos(π/2 · (i − j)/M) = cos·cos + sin·sin, so the cosine is a product of features too; M is the length of the text, at
which it reaches 0.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import relu

from attention.zoo import kernel
from attention.zoo.head import Head


def features(x: Float[Tensor, "tokens d_head"], length: int) -> Float[Tensor, "tokens twice_d_head"]:
    """ReLU(x) times the cosine and the sine of the token's position."""
    angle = math.pi / 2 * torch.arange(len(x), dtype=x.dtype, device=x.device)[:, None] / length
    return torch.cat([relu(x) * angle.cos(), relu(x) * angle.sin()], dim=1)


def weights(head: Head) -> Float[Tensor, "tokens tokens"]:
    return kernel.weights(features(head.q, head.n_tokens), features(head.k, head.n_tokens), head.keep)


def output(head: Head) -> Float[Tensor, "tokens d_value"]:
    return kernel.mix(features(head.q, head.n_tokens), features(head.k, head.n_tokens), head.v, head)


def multiply_adds(n_tokens: int, d_head: int) -> int:
    return kernel.multiply_adds(n_tokens, d_head, 2 * d_head)
