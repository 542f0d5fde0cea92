"""FlashAttention's algorithm (Dao et al. 2022, arXiv:2205.14135, algorithm 1): softmax by tiles, exact.

A tile of queries is multiplied with one tile of keys after another. The running maximum, the sum of exponentials and
the weighted values are rescaled when a larger score occurs; no queries × keys matrix is made. Tiles of queries are
independent: small ones are computed together, as on a GPU.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head, sink_column

AT_ONCE = 2**16  # scores of tiles that are computed together; a larger tile is computed alone


def tiled(head: Head, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """The weighted values [tokens, d_value] and the log of each row's sum [tokens], for every stacked head."""
    outputs, sums = [], []
    together = rows * max(1, AT_ONCE // (rows * columns))
    for start in range(0, head.n_tokens, together):
        here = slice(start, start + together)
        most = torch.full_like(head.q[..., here, :1], -torch.inf)
        total, mixed = torch.zeros_like(most), torch.zeros_like(head.v[..., here, :])
        for first in range(0, head.n_tokens, columns):
            scores = head.tile(here, slice(first, first + columns))  # on a GPU this exists only in SRAM
            larger = torch.maximum(most, scores.amax(-1, keepdim=True))
            shift = torch.where(torch.isneginf(larger), 0.0, larger)
            shrink, exps = (most - shift).exp(), (scores - shift).exp()
            total = total * shrink + exps.sum(-1, keepdim=True)
            mixed = mixed * shrink + exps @ head.v[..., first : first + columns, :]
            most = larger
        if head.sink is not None:
            sink = sink_column(head.sink)
            sink = (sink[here] if sink.dim() else sink).to(most)
            total = total + (sink - torch.where(torch.isneginf(most), 0.0, most)).exp()
        outputs.append(mixed / torch.where(total == 0, 1.0, total))
        sums.append((torch.where(torch.isneginf(most), 0.0, most) + total.log())[..., 0])
    return torch.cat(outputs, dim=-2), torch.cat(sums, dim=-1)


def weights(head: Head, rows: int, columns: int) -> Float[Tensor, "tokens tokens"]:
    """What a backward pass recomputes from the stored sums: exp(score − log of the sum)."""
    lse = tiled(head, rows, columns)[1][:, None]
    return (head.scores - torch.where(torch.isneginf(lse), 0.0, lse)).exp()


def output(head: Head, rows: int, columns: int) -> Float[Tensor, "*heads tokens d_value"]:
    return tiled(head, rows, columns)[0]


def multiply_adds(n_tokens: int, d_head: int, **numbers: float | int) -> int:
    """Q·Kᵀ and the weights times V, for any tiles: the work of softmax attention."""
    return 2 * n_tokens**2 * d_head
