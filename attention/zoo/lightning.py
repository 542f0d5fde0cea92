"""Lightning attention (Qin et al. 2024, arXiv:2401.04658): a linear state with decay, computed by tiles.

output_i = Σ_{j ≤ i} λ^(i−j) (q_i·k_j) v_j. Within a tile as a masked product, everything before it as one d × d state
that decays from tile to tile. The activations and norm around it (MiniMax-01, arXiv:2501.08313) are left out.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head


def decay_of(half_life: int) -> float:
    """λ: the factor by which a token's contribution decays per token."""
    return 0.5 ** (1 / half_life)


def weights(head: Head, half_life: int, tile: int) -> Float[Tensor, "tokens tokens"]:
    """Rows are not normalized: a weight may have any sign and magnitude. The tile size does not affect the result."""
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
    """Two products within each tile, and two with the state."""
    tile = min(tile, n_tokens)
    return 2 * n_tokens * tile * d_head + 2 * n_tokens * d_head**2
