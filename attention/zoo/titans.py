"""Titans' memory (Behrouz et al. 2024, arXiv:2501.00663): weights that learn the text as it is read, by gradient steps.

The loss of a token is ‖M k − v‖²: how badly the memory M foresees its value. Its gradient is the surprise; it is
carried on with a momentum η (eq. 10), and the memory forgets a part α of itself at each token (eq. 13):
S_t = η S_{t−1} − θ ∇ℓ(M_{t−1}; k_t, v_t), M_t = (1 − α) M_{t−1} + S_t, read as M_t q_t. The memory is one matrix here
(the paper's linear case; it has deeper ones too), queries and keys are of length one as there, and θ, η and α, which
are learned of each token in the paper, are the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.delta import unit
from attention.zoo.head import Head


@dataclass(frozen=True, eq=False)
class _Moment:
    """One token's: the memory before and after it, and the gradient between them."""

    before: Float[Tensor, "*heads d_head d_value"]
    after: Float[Tensor, "*heads d_head d_value"]
    gradient: Float[Tensor, "*heads d_head d_value"]


def _moments(head: Head, v: Tensor, step: float, momentum: float, forgotten: float) -> Iterator[_Moment]:
    k = unit(head.k)
    memory = carried = v.new_zeros(*k.shape[:-2], k.shape[-1], v.shape[-1])
    for token in range(head.n_tokens):
        here = slice(token, token + 1)
        key = k[..., here, :]
        gradient = 2 * key.mT @ (key @ memory - v[..., here, :])
        carried = momentum * carried - step * gradient
        before, memory = memory, (1 - forgotten) * memory + carried
        yield _Moment(before, memory, gradient)


def read(
    head: Head, v: Float[Tensor, "*heads tokens d_value"], step: float, momentum: float, forgotten: float
) -> tuple[Float[Tensor, "*heads tokens d_value"], Float[Tensor, "*heads tokens"]]:
    """What each token reads, and the size of its gradient: how much it surprised the memory that came before it."""
    q, rows, sizes = unit(head.q), list[Tensor](), list[Tensor]()
    for token, moment in enumerate(_moments(head, v, step, momentum, forgotten)):
        rows.append(q[..., token : token + 1, :] @ moment.after)
        sizes.append(moment.gradient.norm(dim=(-2, -1)))
    return torch.cat(rows, dim=-2), torch.stack(sizes, dim=-1)


def read_before(
    head: Head,
    v: Float[Tensor, "*heads tokens d_value"],
    segment: int,
    step: float,
    momentum: float,
    forgotten: float,
) -> Float[Tensor, "*heads tokens d_value"]:
    """What each token reads of the memory as it was before the token's segment of the text."""
    q, rows = unit(head.q), list[Tensor]()
    for token, moment in enumerate(_moments(head, v, step, momentum, forgotten)):
        if token % segment == 0:
            rows.append(q[..., token : token + segment, :] @ moment.before)
    return torch.cat(rows, dim=-2)


def weights(head: Head, step: float, momentum: float, forgotten: float) -> Float[Tensor, "tokens tokens"]:
    """What the reading comes to, written out: it is linear in the values, so each stands for itself."""
    one = torch.eye(head.n_tokens, dtype=head.v.dtype, device=head.v.device)
    return read(head, one, step, momentum, forgotten)[0]


def output(head: Head, step: float, momentum: float, forgotten: float) -> Float[Tensor, "*heads tokens d_value"]:
    return read(head, head.v, step, momentum, forgotten)[0]


def surprise(head: Head, step: float, momentum: float, forgotten: float) -> Float[Tensor, "tokens"]:
    """‖∇ℓ‖ of every token, at the memory of all before it."""
    return read(head, head.v, step, momentum, forgotten)[1]


def multiply_adds(n_tokens: int, d_head: int, step: float, momentum: float, forgotten: float) -> int:
    """Three products of a vector and the memory for each token: foreseen, learned, read."""
    return 3 * n_tokens * d_head**2
