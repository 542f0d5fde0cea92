"""Three ways to put a memory that learns beside attention (Behrouz et al. 2024, arXiv:2501.00663, section 4).

MAC, memory as a context: what the memory has of all segments before is read with this segment's queries, and softmax is
over what was read and the segment. MAG, memory as a gate: softmax over the last tokens and the memory both work, and a
gate mixes them. MAL, memory as a layer: softmax over the last tokens has what the memory made of each for values.

In the paper each part has queries and keys of its own, the gate is a product of learned and normed outputs, and MAC's
memory learns what attention made of the segment; there are learned tokens besides (persistent memory). Here all parts
share the head's queries, keys and values, the gate is one number, MAC's memory learns the segment itself (keys too, so
that what is read can be compared), a token sees what was read up to itself, and nothing is persistent.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo import titans
from attention.zoo.head import Head, softmax_rows

# -- MAG and MAL ------------------------------------------------------------------------------------------------------


def near(head: Head, window: int) -> Float[Tensor, "*heads tokens tokens"]:
    """Softmax over the last keys, each query's own among them."""
    places = torch.arange(head.n_tokens, device=head.scores.device)
    far = places[:, None] - places[None, :] >= window
    return softmax_rows(head.scores.masked_fill(far, -torch.inf), head.sink)


def gate_weights(head: Head, window: int, gate: float, step: float, momentum: float, forgotten: float) -> Tensor:
    """``gate`` is attention's share of the output."""
    return gate * near(head, window) + (1 - gate) * titans.weights(head, step, momentum, forgotten)


def gate_output(head: Head, window: int, gate: float, step: float, momentum: float, forgotten: float) -> Tensor:
    remembered = titans.output(head, step, momentum, forgotten)
    return gate * (near(head, window) @ head.v) + (1 - gate) * remembered


def layer_weights(head: Head, window: int, step: float, momentum: float, forgotten: float) -> Tensor:
    return near(head, window) @ titans.weights(head, step, momentum, forgotten)


def layer_output(head: Head, window: int, step: float, momentum: float, forgotten: float) -> Tensor:
    return near(head, window) @ titans.output(head, step, momentum, forgotten)


# -- MAC --------------------------------------------------------------------------------------------------------------


def _both(head: Head, segment: int, k: Float[Tensor, "*heads tokens d_head"]) -> tuple[Tensor, Tensor]:
    """Weights on what was read, whose keys are ``k``, and on the segment itself; one softmax is over both."""
    places = torch.arange(head.n_tokens, device=k.device)
    parts = places // segment
    here = (parts[:, None] == parts[None, :]) & (places[:, None] >= places[None, :])
    read = (head.q @ k.mT * head.scale).masked_fill(~here | (parts == 0), -torch.inf)
    own = head.scores.masked_fill(~here, -torch.inf)
    weights = softmax_rows(torch.cat([read, own], dim=-1), head.sink)
    return weights[..., : head.n_tokens], weights[..., head.n_tokens :]


def context_weights(head: Head, segment: int, step: float, momentum: float, forgotten: float) -> Tensor:
    """What was read is linear in all that was learned, so it is written out over the tokens themselves."""
    one = torch.eye(head.n_tokens, dtype=head.v.dtype, device=head.v.device)
    spread = titans.read_before(head, one, segment, step, momentum, forgotten)
    read, own = _both(head, segment, spread @ head.k)
    return read @ spread + own


def context_output(head: Head, segment: int, step: float, momentum: float, forgotten: float) -> Tensor:
    """With a memory that learns keys and values side by side."""
    told = torch.cat([head.k, head.v], dim=-1)
    k, v = titans.read_before(head, told, segment, step, momentum, forgotten).split(
        [head.k.shape[-1], head.v.shape[-1]], dim=-1
    )
    read, own = _both(head, segment, k)
    return read @ v + own @ head.v


# -- what is told of them ---------------------------------------------------------------------------------------------


def surprise(head: Head, step: float, momentum: float, forgotten: float, **_others: float | int) -> Tensor:
    """Of the memory alone, see :func:`attention.zoo.titans.surprise`."""
    return titans.surprise(head, step, momentum, forgotten)


def context_parts(n_tokens: int, segment: int, **_memory: float | int) -> tuple[Tensor, ...]:
    """Keys of the segment, what its tokens read (by who read it), and the tokens that the memory had learned then."""
    here, before = _places(n_tokens)
    own = (here // segment == before // segment) & (before <= here)
    return own, own & (here >= segment), before // segment < here // segment


def window_parts(n_tokens: int, window: int, **_memory: float | int) -> tuple[Tensor, ...]:
    """Keys of the window, and the tokens that the memory has learned."""
    here, before = _places(n_tokens)
    return (before <= here) & (here - before < window), before <= here


def _places(n_tokens: int) -> tuple[Tensor, Tensor]:
    places = torch.arange(n_tokens)
    return places[:, None], places[None, :]


def adds_gate(n_tokens: int, d_head: int, window: int, **memory: float | int) -> int:
    """Softmax over the window, and the memory's three products a token."""
    return 2 * n_tokens * window * d_head + 3 * n_tokens * d_head**2


def adds_context(n_tokens: int, d_head: int, segment: int, **memory: float | int) -> int:
    """A memory of twice the width, and softmax over as many read tokens as the segment has of its own."""
    return 4 * n_tokens * segment * d_head + 6 * n_tokens * d_head**2
