"""Attention-weight refinement (AWRSR, Liu et al. 2024, arXiv:2410.21048, section 3): attention to attention weights.

The rows of softmax's map A serve as queries and keys: B = (A W_Q′)(A W_K′)ᵀ / √n, under the model's mask, and
softmax(B) replaces A. Two tokens with similar weights attend to each other. *Simple*: softmax(B) V. *Value-weighted*:
the new weights are softmax(B) A W_V′. *Additive*: A and softmax(B) added, each row divided by its sum. *Stochastic*,
for models whose vectors are distributions (STOSA, Fan et al. 2022, arXiv:2201.06035): a row of A gives the mean A W_μ
and the variance elu(A W_Σ) + 1 of a normal distribution, and B is the negative squared 2-Wasserstein distance between
two of them, over √n.

The paper learns every W′. Here each is the identity, or a random orthogonal matrix, which rotates the rows and keeps
their norms. W_V′ stays the identity: a random one would give weight to masked tokens. A model with one vector per token
has no variances of its own, so both parameters of a distribution come from the same row.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import elu

from attention.zoo.head import Head, normalised, softmax_rows

Map = Float[Tensor, "tokens tokens"]


def simple(head: Head, turned: int, seed: int) -> Map:
    """softmax(B); rows sum to 1, whatever part of A's a sink takes."""
    own = head.softmax()
    query, key = _turns(own, turned, seed, count=2)
    return _softmax(head, _times(own, query) @ _times(own, key).T)


def by_values(head: Head, turned: int, seed: int) -> Map:
    """softmax(B) A: each token adopts the weights of tokens with similar weights.

    With a window, tokens would reach outside it through others; masked weight is redistributed over the row.
    """
    rows = simple(head, turned, seed) @ head.softmax()
    return normalised(rows.masked_fill(~head.keep, 0.0)) * rows.sum(-1, keepdim=True)


def added(head: Head, turned: int, seed: int) -> Map:
    """A + softmax(B), each row divided by its sum."""
    return normalised(head.softmax() + simple(head, turned, seed))


def stochastic(head: Head, turned: int, seed: int) -> Map:
    """softmax(B) with B = −(‖μ_i − μ_j‖² + ‖σ_i − σ_j‖²) / √n."""
    own = head.softmax()
    turns = _turns(own, turned, seed, count=4)
    means = [_times(own, one) for one in turns[:2]]
    deviations = [(elu(_times(own, one)) + 1).sqrt() for one in turns[2:]]
    return _softmax(head, -_squared(*means) - _squared(*deviations))


def _softmax(head: Head, products: Map) -> Map:
    return softmax_rows((products / math.sqrt(head.n_tokens)).masked_fill(~head.keep, -torch.inf))


def _turns(own: Map, turned: int, seed: int, *, count: int) -> list[Map | None]:
    """This many random orthogonal matrices, uniformly distributed; None: the identity."""
    if not turned:
        return [None] * count
    chance = torch.Generator().manual_seed(seed)
    return [_orthogonal(len(own), chance).to(own) for _ in range(count)]


def _orthogonal(n: int, chance: torch.Generator) -> Map:
    q, r = torch.linalg.qr(torch.randn(n, n, generator=chance, dtype=torch.float64))
    return q * r.diagonal().sign()  # without it the distribution is not uniform (Mezzadri 2007, arXiv:math-ph/0609050)


def _times(own: Map, turn: Map | None) -> Map:
    return own if turn is None else own @ turn


def _squared(queries: Map, keys: Map) -> Map:
    """Squared distances of rows; their matrix product is the work that is counted."""
    return queries.square().sum(-1)[:, None] + keys.square().sum(-1)[None, :] - 2 * queries @ keys.T


def adds_simple(n_tokens: int, d_head: int, turned: int, seed: int) -> int:
    """Softmax, B, and two matrices W′ unless they are the identity."""
    return 2 * n_tokens**2 * d_head + (1 + 2 * turned) * n_tokens**3


def adds_by_values(n_tokens: int, d_head: int, turned: int, seed: int) -> int:
    return adds_simple(n_tokens, d_head, turned, seed) + n_tokens**3


def adds_stochastic(n_tokens: int, d_head: int, turned: int, seed: int) -> int:
    return 2 * n_tokens**2 * d_head + (2 + 4 * turned) * n_tokens**3
