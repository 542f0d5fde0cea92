"""Lightning attention (Qin et al. 2024, arXiv:2401.04658): a linear state that forgets, computed by tiles.

output_i = Σ_{j ≤ i} λ^(i−j) (q_i·k_j) v_j. Inside a tile as a masked product, everything before it as one d × d state,
decayed from tile to tile. The activations and the norm around it (MiniMax-01, arXiv:2501.08313) are no
part of it here.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head


def decay_of(half_life: int) -> float:
    """λ: what is left of a token one token later."""
    return 0.5 ** (1 / half_life)


def weights(head: Head, half_life: int, tile: int) -> Float[Tensor, "tokens tokens"]:
    """No sum divides the rows: a weight may have any sign and size. The tile makes no difference."""
    places = torch.arange(head.n_tokens, dtype=head.q.dtype, device=head.q.device)
    apart = (places[:, None] - places[None, :]).clamp(min=0)
    return (head.q @ head.k.T * head.scale * decay_of(half_life) ** apart).tril()


def output(head: Head, half_life: int, tile: int) -> Float[Tensor, "*heads tokens d_value"]:
    decay, q = decay_of(half_life), head.q * head.scale
    state = head.blank_state()
    rows = []
    for start in range(0, head.n_tokens, tile):
        here = slice(start, start + tile)
        now, k, v = q[..., here, :], head.k[..., here, :], head.v[..., here, :]
        count = k.shape[-2]
        places = torch.arange(count, dtype=q.dtype, device=q.device)[:, None]
        inside = (now @ k.mT * decay ** (places - places.T).clamp(min=0)).tril()
        rows.append(inside @ v + (now * decay ** (places + 1)) @ state)
        state = state * decay**count + (k * decay ** (count - 1 - places)).mT @ v
    return torch.cat(rows, dim=-2)


def multiply_adds(n_tokens: int, d_head: int, half_life: int, tile: int) -> int:
    """Two products inside each tile, and two with the state."""
    tile = min(tile, n_tokens)
    return 2 * n_tokens * tile * d_head + 2 * n_tokens * d_head**2
