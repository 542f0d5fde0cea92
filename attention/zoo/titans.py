"""Titans' memory (Behrouz et al. 2024, arXiv:2501.00663): weights that learn the text while reading, by gradient steps.

The loss of a token is ‖M k − v‖²: how badly the memory M predicts its value. Its gradient is the surprise; it has a
momentum η (eq. 10), and the memory forgets a share α of itself at each token (eq. 13): S_t = η S_{t−1} − θ ∇ℓ(M_{t−1};
k_t, v_t), M_t = (1 − α) M_{t−1} + S_t, read as M_t q_t. The memory is one matrix here (the paper's linear case; it also
has deeper ones), queries and keys are normalized as in the paper, and θ, η and α, which the paper learns for each
token, are constants.
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
    """One token's state: the memory before and after it, and the prediction error of its value; heads first."""

    before: Float[Tensor, "heads d_head d_value"]
    after: Float[Tensor, "heads d_head d_value"]
    missed: Float[Tensor, "heads 1 d_value"]


def _moments(head: Head, v: Tensor, step: float, momentum: float, forgotten: float) -> Iterator[_Moment]:
    """A token's gradient is 2 k (M k − v)ᵀ.

    The number of torch calls per token is minimized, as they dominate the time.
    """
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
    """What each token reads from the memory as of the start of the token's segment."""
    q, rows = unit(head.q), list[Tensor]()
    q = q if q.dim() > 2 else q[None]
    for token, moment in enumerate(_moments(head, v, step, momentum, forgotten)):
        if token % segment == 0:
            rows.append(q[:, token : token + segment] @ moment.before)
    return torch.cat(rows, dim=-2).view(*head.q.shape[:-1], v.shape[-1])


def weights(head: Head, step: float, momentum: float, forgotten: float) -> Float[Tensor, "tokens tokens"]:
    """The equivalent map: the output is linear in the values, so unit values give the weights."""
    one = torch.eye(head.n_tokens, dtype=head.v.dtype, device=head.v.device)
    return read(head, one, step, momentum, forgotten)


def output(head: Head, step: float, momentum: float, forgotten: float) -> Float[Tensor, "*heads tokens d_value"]:
    return read(head, head.v, step, momentum, forgotten)


def surprise(head: Head, step: float, momentum: float, forgotten: float) -> Float[Tensor, "tokens"]:
    """‖∇ℓ‖ of every token, for the memory of all earlier ones: 2 ‖k‖ ‖M k − v‖."""
    missed = [moment.missed for moment in _moments(head, head.v, step, momentum, forgotten)]
    return 2 * unit(head.k).norm(dim=-1) * torch.cat(missed, dim=-2).norm(dim=-1).view(head.k.shape[:-1])


def multiply_adds(n_tokens: int, d_head: int, step: float, momentum: float, forgotten: float) -> int:
    """Three products of a vector and the memory per token: predict, learn, read."""
    return 3 * n_tokens * d_head**2
