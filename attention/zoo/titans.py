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

from attention.zoo.delta import token_rows, unit
from attention.zoo.head import Head


@dataclass(frozen=True, eq=False)
class _Moment:
    """One token's: the memory before and after it, and by how much it foresaw the value too large; heads first."""

    before: Float[Tensor, "heads d_head d_value"]
    after: Float[Tensor, "heads d_head d_value"]
    missed: Float[Tensor, "heads 1 d_value"]


def _moments(head: Head, v: Tensor, step: float, momentum: float, forgotten: float) -> Iterator[_Moment]:
    """The gradient of a token is 2 k (M k − v)ᵀ. As few calls of torch a token as there can be: they are the time."""
    keys = token_rows(unit(head.k))
    values = token_rows(v.expand(*head.k.shape[:-2], *v.shape[-2:]))
    memory = carried = v.new_zeros(keys[0].shape[0], keys[0].shape[-1], v.shape[-1])
    for key, value in zip(keys, values, strict=True):
        missed = torch.baddbmm(value, key, memory, beta=-1)
        carried = torch.baddbmm(carried, key.mT, missed, beta=momentum, alpha=-2 * step)
        before, memory = memory, torch.add(carried, memory, alpha=1 - forgotten)
        yield _Moment(before, memory, missed)


def read(
    head: Head, v: Float[Tensor, "*heads tokens d_value"], step: float, momentum: float, forgotten: float
) -> Float[Tensor, "*heads tokens d_value"]:
    """What each token reads."""
    moments = zip(token_rows(unit(head.q)), _moments(head, v, step, momentum, forgotten), strict=True)
    return torch.cat([q @ moment.after for q, moment in moments], dim=-2).view(*head.q.shape[:-1], v.shape[-1])


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
    q = q if q.dim() > 2 else q[None]
    for token, moment in enumerate(_moments(head, v, step, momentum, forgotten)):
        if token % segment == 0:
            rows.append(q[:, token : token + segment] @ moment.before)
    return torch.cat(rows, dim=-2).view(*head.q.shape[:-1], v.shape[-1])


def weights(head: Head, step: float, momentum: float, forgotten: float) -> Float[Tensor, "tokens tokens"]:
    """What the reading comes to, written out: it is linear in the values, so each stands for itself."""
    one = torch.eye(head.n_tokens, dtype=head.v.dtype, device=head.v.device)
    return read(head, one, step, momentum, forgotten)


def output(head: Head, step: float, momentum: float, forgotten: float) -> Float[Tensor, "*heads tokens d_value"]:
    return read(head, head.v, step, momentum, forgotten)


def surprise(head: Head, step: float, momentum: float, forgotten: float) -> Float[Tensor, "tokens"]:
    """‖∇ℓ‖ of every token, at the memory of all before it: 2 ‖k‖ ‖M k − v‖."""
    missed = [moment.missed for moment in _moments(head, head.v, step, momentum, forgotten)]
    return 2 * unit(head.k).norm(dim=-1) * torch.cat(missed, dim=-2).norm(dim=-1).view(head.k.shape[:-1])


def multiply_adds(n_tokens: int, d_head: int, step: float, momentum: float, forgotten: float) -> int:
    """Three products of a vector and the memory for each token: foreseen, learned, read."""
    return 3 * n_tokens * d_head**2
