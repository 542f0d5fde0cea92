"""Multi-head latent attention (DeepSeek-AI 2024, arXiv:2405.04434, section 2.1): a short vector a token for all heads.

c = x W_down is kept, keys and values are c W_up, each head its own columns. Both matrices are learned there; here they
are the best of their rank for the layer's own keys and values in this text, its truncated singular value decomposition
(Eckart & Young 1936). There a few more coordinates, shared by all heads, are kept turned by their positions, and the
others are never turned (decoupled RoPE), so that W_up folds into the queries; that takes training. Here the keys made
of the latent are turned as the model turns its own.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head, softmax_rows
from attention.zoo.layer import Layer


def latent(layer: Layer, rank: int) -> tuple[Float[Tensor, "tokens rank"], Float[Tensor, "rank width"]]:
    """What is kept of each token, and what makes keys and values of it."""
    left, sizes, right = layer.svd
    return left[:, :rank] * sizes[:rank], right[:rank]


def left_out(layer: Layer, rank: int) -> float:
    """‖rows − rebuilt‖ / ‖rows‖: of all singular values the part beyond the rank, by squares."""
    squares = layer.svd[1] ** 2
    total = float(squares.sum())
    return (float(squares[rank:].sum()) / total) ** 0.5 if total else 0.0


def values(head: Head, rank: int) -> Float[Tensor, "tokens d_value"]:
    """The head's values as they are rebuilt."""
    layer = _layer(head)
    kept, up = latent(layer, rank)
    start = layer.k.shape[0] * layer.k.shape[2] + head.kv_head * layer.v.shape[2]
    return kept @ up[:, start : start + layer.v.shape[2]]


def weights(head: Head, rank: int) -> Float[Tensor, "tokens tokens"]:
    """Softmax over the keys as they are rebuilt, and turned."""
    layer = _layer(head)
    kept, up = latent(layer, rank)
    width = layer.k.shape[2]
    lacking = layer.turn(kept @ up[:, head.kv_head * width : (head.kv_head + 1) * width] - layer.k[head.kv_head])
    scores = head.q @ (head.k + lacking).T * head.scale  # what is rebuilt exactly is not rounded by turning it
    return softmax_rows(scores.masked_fill(~head.keep, -torch.inf))


def output(head: Head, rank: int) -> Float[Tensor, "tokens d_value"]:
    return weights(head, rank) @ values(head, rank)


def multiply_adds(n_tokens: int, d_head: int, rank: int) -> int:
    """Keys and values made of the latent, then softmax attention; how the latent was found is not counted."""
    return 2 * n_tokens * d_head * min(rank, n_tokens) + 2 * n_tokens**2 * d_head


def _layer(head: Head) -> Layer:
    if head.layer is None:
        raise ValueError("latent attention needs the keys and values of all heads of the layer")
    return head.layer
