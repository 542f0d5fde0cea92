"""Performer's FAVOR+ (Choromanski et al. 2021, arXiv:2009.14794): random features whose mean product is exp(q·k)."""

from __future__ import annotations

import functools

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo import kernel
from attention.zoo.head import Head


@functools.lru_cache(maxsize=16)  # shared by all heads of a model, and never modified
def directions(features: int, d_head: int, seed: int, *, orthogonal: bool = True) -> Float[Tensor, "features d_head"]:
    """Gaussian vectors; if ``orthogonal``, in blocks of d_head, with norms drawn as of Gaussian ones (section 2.4).

    The same numbers for the same seed, on the CPU.
    """
    chance = torch.Generator().manual_seed(seed)
    drawn = torch.randn(features, d_head, generator=chance, dtype=torch.float64)
    if not orthogonal:
        return drawn
    blocks = []
    for start in range(0, features, d_head):
        square = torch.randn(d_head, d_head, generator=chance, dtype=torch.float64)
        turned, rest = torch.linalg.qr(square)
        turned = turned * rest.diagonal().sign()  # without it, not all rotations would be equally likely
        blocks.append(turned.T[: min(d_head, features - start)])
    return torch.cat(blocks) * drawn.norm(dim=1, keepdim=True)


def positive_features(
    x: Float[Tensor, "tokens d_head"], omega: Float[Tensor, "features d_head"]
) -> Float[Tensor, "tokens features"]:
    """The logarithm of exp(ω·x − ‖x‖²/2) / √m (Lemma 1); the caller takes the exponential, as it knows which factors
    cancel.
    """
    return x @ omega.T - x.square().sum(-1, keepdim=True) / 2 - torch.tensor(float(len(omega))).log() / 2


def _both(head: Head, features: int, seed: int) -> tuple[Tensor, Tensor]:
    """Features of queries and keys; a factor per query and one of all keys cancel in the division by the sum."""
    omega = directions(features, head.q.shape[1], seed).to(head.q)
    root = head.scale**0.5
    q, k = positive_features(head.q * root, omega), positive_features(head.k * root, omega)
    return (q - q.amax(-1, keepdim=True)).exp(), (k - k.amax()).exp()


def weights(head: Head, features: int, seed: int) -> Float[Tensor, "tokens tokens"]:
    return kernel.weights(*_both(head, features, seed), head.keep)


def output(head: Head, features: int, seed: int) -> Float[Tensor, "tokens d_value"]:
    return kernel.mix(*_both(head, features, seed), head.v, head)


def multiply_adds(n_tokens: int, d_head: int, features: int, seed: int) -> int:
    """The features of queries and keys, then the kernel's."""
    return 2 * n_tokens * d_head * features + kernel.multiply_adds(n_tokens, d_head, features)
