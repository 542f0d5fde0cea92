"""Nyströmformer (Xiong et al. 2021, arXiv:2102.03902): the map as a product of three small ones over landmarks.

softmax(Q K̃ᵀ) · softmax(Q̃ K̃ᵀ)⁺ · softmax(Q̃ Kᵀ), where Q̃ and K̃ are means of equal segments.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head
from attention.zoo.linformer import segments


def pseudo_inverse(matrix: Float[Tensor, "m m"], steps: int) -> Float[Tensor, "m m"]:
    """The Moore–Penrose inverse, approximated by this many iterations (Razavi et al. 2014)."""
    sums = matrix.abs().sum(0).max() * matrix.abs().sum(1).max()
    found, one = matrix.T / sums, torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)
    for _ in range(steps):
        near = matrix @ found
        found = found @ (13 * one - near @ (15 * one - near @ (7 * one - near))) / 4
    return found


def factors(head: Head, landmarks: int, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """The three maps: to the landmarks, between them (inverted), from them."""
    means = segments(head.n_tokens, landmarks).to(head.k)
    q, k = means @ head.q, means @ head.k
    left, middle, right = ((a @ b.T * head.scale).softmax(-1) for a, b in ((head.q, k), (q, k), (q, head.k)))
    return left, pseudo_inverse(middle, steps), right


def weights(head: Head, landmarks: int, steps: int) -> Float[Tensor, "tokens tokens"]:
    """Weights may be negative, and rows sum to 1 only as far as the inverse is exact."""
    left, middle, right = factors(head, landmarks, steps)
    return left @ middle @ right


def output(head: Head, landmarks: int, steps: int) -> Float[Tensor, "tokens d_value"]:
    left, middle, right = factors(head, landmarks, steps)
    return left @ (middle @ (right @ head.v))


def multiply_adds(n_tokens: int, d_head: int, landmarks: int, steps: int) -> int:
    """The means, three maps, four products per iteration, and the product with the values from the right."""
    m = min(landmarks, n_tokens)
    maps = 2 * n_tokens * m * d_head + m * m * d_head
    return 2 * m * n_tokens * d_head + maps + 4 * steps * m**3 + 2 * n_tokens * m * d_head + m * m * d_head
