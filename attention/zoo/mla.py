"""Multi-head latent attention (DeepSeek-AI 2024, arXiv:2405.04434, section 2.1): one short vector per token for all
heads.

c = x W_down is cached, keys and values are c W_up, with columns for each head. The paper learns both matrices; here
they are the best of their rank for the layer's own keys and values in this text, by a truncated singular value
decomposition (Eckart & Young 1936). In the paper a few more dimensions, shared by all heads, are cached after rotation,
and the others are not rotated (decoupled RoPE), so that W_up folds into the queries; that requires training. Here keys
made from the latent are rotated as in the model.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head, softmax_rows
from attention.zoo.layer import Layer


def latent(layer: Layer, rank: int) -> tuple[Float[Tensor, "tokens rank"], Float[Tensor, "rank width"]]:
    """What is cached for each token, and the matrix that makes keys and values from it."""
    left, sizes, right = layer.svd
    return left[:, :rank] * sizes[:rank], right[:rank]


def left_out(layer: Layer, rank: int) -> float:
    """‖rows − rebuilt‖ / ‖rows‖: the singular values beyond the rank, relative to all, by squares."""
    squares = layer.svd[1] ** 2
    total = float(squares.sum())
    return (float(squares[rank:].sum()) / total) ** 0.5 if total else 0.0


def values(head: Head, rank: int) -> Float[Tensor, "tokens d_value"]:
    """The head's reconstructed values."""
    layer = _layer(head)
    kept, up = latent(layer, rank)
    start = layer.k.shape[0] * layer.k.shape[2] + head.kv_head * layer.v.shape[2]
    return kept @ up[:, start : start + layer.v.shape[2]]


def weights(head: Head, rank: int) -> Float[Tensor, "tokens tokens"]:
    """Softmax over the keys as reconstructed and rotated."""
    layer = _layer(head)
    kept, up = latent(layer, rank)
    width = layer.k.shape[2]
    lacking = layer.turn(kept @ up[:, head.kv_head * width : (head.kv_head + 1) * width] - layer.k[head.kv_head])
    scores = head.q @ (head.k + lacking).T * head.scale  # avoids rounding errors where the reconstruction is exact
    return softmax_rows(scores.masked_fill(~head.keep, -torch.inf))


def output(head: Head, rank: int) -> Float[Tensor, "tokens d_value"]:
    return weights(head, rank) @ values(head, rank)


def multiply_adds(n_tokens: int, d_head: int, rank: int) -> int:
    """Keys and values from the latent, then softmax attention; computing the latent is not counted."""
    return 2 * n_tokens * d_head * min(rank, n_tokens) + 2 * n_tokens**2 * d_head


def _layer(head: Head) -> Layer:
    if head.layer is None:
        raise ValueError("latent attention needs the keys and values of all heads of the layer")
    return head.layer
