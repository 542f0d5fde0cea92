"""Three ways to combine a memory that learns with attention (Behrouz et al. 2024, arXiv:2501.00663, section 4).

MAC, memory as context: the memory of all earlier segments is read with this segment's queries, and softmax is over what
was read and the segment. MAG, memory as gate: softmax over the last tokens and the memory run in parallel, and a gate
mixes them. MAL, memory as layer: softmax over the last tokens uses the memory's output for each as values.

In the paper each part has its own queries and keys, the gate is a product of learned and normalized outputs, and MAC's
memory learns attention's output for the segment; there are also learned persistent tokens. Here all parts share the
head's queries, keys and values, the gate is one number, MAC's memory learns the segment itself (keys too, so that what
is read can be compared), and a token uses what was read up to itself.

Persistent tokens precede the text in each variant and are the same for every text (section 3.3). The paper learns them.
Here their keys are random by a seed and their values are 0, the neutral value: they take a share of attention and add
nothing, and the memory, which predicts 0 for them, learns nothing from them.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo import titans
from attention.zoo.head import Head, softmax_rows

# -- persistent tokens ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def persistent_keys(count: int, d_head: int, seed: int) -> Float[Tensor, "persistent d_head"]:
    """Normal numbers, the same for the same seed, on the CPU."""
    return torch.randn(count, d_head, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _with_persistent(head: Head, rest: Tensor, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """The weights of one softmax over persistent tokens and ``rest``, all other scores."""
    keys = persistent_keys(count, head.q.shape[-1], seed).to(head.q)
    weights = softmax_rows(torch.cat([head.q @ keys.mT * head.scale, rest], dim=-1), head.sink)
    return weights[..., :count], weights[..., count:]


# -- MAG and MAL ------------------------------------------------------------------------------------------------------


def near(head: Head, window: int, persistent: int = 0, seed: int = 0) -> Float[Tensor, "*heads tokens tokens"]:
    """Softmax over the last keys, the query's own included, and persistent tokens, whose weights are left out."""
    return _near(head, window, persistent, seed)[1]


def _near(head: Head, window: int, persistent: int, seed: int) -> tuple[Tensor, Tensor]:
    places = torch.arange(head.n_tokens, device=head.scores.device)
    far = places[:, None] - places[None, :] >= window
    return _with_persistent(head, head.scores.masked_fill(far, -torch.inf), persistent, seed)


def gate_weights(head: Head, window: int, gate: float, persistent: int = 0, seed: int = 0, **memory: float) -> Tensor:
    """``gate`` is attention's share of the output."""
    return gate * near(head, window, persistent, seed) + (1 - gate) * titans.weights(head, **memory)


def gate_output(head: Head, window: int, gate: float, persistent: int = 0, seed: int = 0, **memory: float) -> Tensor:
    return gate * (near(head, window, persistent, seed) @ head.v) + (1 - gate) * titans.output(head, **memory)


def layer_weights(head: Head, window: int, persistent: int = 0, seed: int = 0, **memory: float) -> Tensor:
    return near(head, window, persistent, seed) @ titans.weights(head, **memory)


def layer_output(head: Head, window: int, persistent: int = 0, seed: int = 0, **memory: float) -> Tensor:
    return near(head, window, persistent, seed) @ titans.output(head, **memory)


def window_persistent(head: Head, window: int, persistent: int, seed: int, **_others: float) -> Tensor:
    """Each token's weight on each persistent token [tokens, persistent]."""
    return _near(head, window, persistent, seed)[0]


# -- MAC --------------------------------------------------------------------------------------------------------------


def _all_three(
    head: Head, segment: int, k: Float[Tensor, "*heads tokens d_head"], persistent: int, seed: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Weights on persistent tokens, on what was read (keys ``k``), and on the segment, by one softmax."""
    places = torch.arange(head.n_tokens, device=k.device)
    parts = places // segment
    here = (parts[:, None] == parts[None, :]) & (places[:, None] >= places[None, :])
    read = (head.q @ k.mT * head.scale).masked_fill(~here | (parts == 0), -torch.inf)
    own = head.scores.masked_fill(~here, -torch.inf)
    first, weights = _with_persistent(head, torch.cat([read, own], dim=-1), persistent, seed)
    return first, weights[..., : head.n_tokens], weights[..., head.n_tokens :]


def context_weights(head: Head, segment: int, persistent: int = 0, seed: int = 0, **memory: float) -> Tensor:
    """What is read is linear in what was learned, so it is expressed as weights on the tokens themselves."""
    one = torch.eye(head.n_tokens, dtype=head.v.dtype, device=head.v.device)
    spread = titans.read_before(head, one, segment, **memory)
    _first, read, own = _all_three(head, segment, spread @ head.k, persistent, seed)
    return read @ spread + own


def context_output(head: Head, segment: int, persistent: int = 0, seed: int = 0, **memory: float) -> Tensor:
    """With a memory that learns keys and values side by side."""
    told = torch.cat([head.k, head.v], dim=-1)
    k, v = titans.read_before(head, told, segment, **memory).split([head.k.shape[-1], head.v.shape[-1]], dim=-1)
    _first, read, own = _all_three(head, segment, k, persistent, seed)
    return read @ v + own @ head.v


def context_persistent(head: Head, segment: int, persistent: int, seed: int, **memory: float) -> Tensor:
    """Each token's weight on each persistent token [tokens, persistent]."""
    return _all_three(head, segment, titans.read_before(head, head.k, segment, **memory), persistent, seed)[0]


# -- for display ------------------------------------------------------------------------------------------------------


def surprise(head: Head, step: float, momentum: float, forgotten: float, **_others: float | int) -> Tensor:
    """The surprise of the memory alone, see :func:`attention.zoo.titans.surprise`."""
    return titans.surprise(head, step, momentum, forgotten)


def context_parts(n_tokens: int, segment: int, **_memory: float | int) -> tuple[Tensor, ...]:
    """Keys of the segment, what its tokens read (by reading token), and tokens that the memory had learned by then."""
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


def adds_gate(n_tokens: int, d_head: int, window: int, persistent: int, **memory: float | int) -> int:
    """Softmax over the window and persistent tokens, and the memory's three products per token."""
    return 2 * n_tokens * (window + persistent) * d_head + 3 * n_tokens * d_head**2


def adds_context(n_tokens: int, d_head: int, segment: int, persistent: int, **memory: float | int) -> int:
    """A memory of twice the width, and softmax over persistent tokens, what was read, and the segment."""
    return 2 * n_tokens * (2 * segment + persistent) * d_head + 6 * n_tokens * d_head**2
