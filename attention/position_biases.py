"""Position encodings without rotation, each as the term that it adds to q·k.

``distances`` are query position − key position, so 1 is the previous token, in a tensor of any shape: a range gives the
term against distance, :func:`distance_grid` gives it as a matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention import rotary

N_ = str  # marks a text for Babel without translating it here


def distance_grid(n: int) -> Int[Tensor, "n n"]:
    """Query position − key position of every cell of n × n; rows are queries."""
    return torch.arange(n)[:, None] - torch.arange(n)[None, :]


# -- absolute: vectors added to the embeddings -----------------------------------------------------------------------


def sinusoidal(positions: Tensor, d_model: int, base: float = 10000.0) -> Float[Tensor, "tokens d_model"]:
    """sin(p·ω_i) in dimension 2i and cos(p·ω_i) in 2i + 1, ω_i = base^(−2i/d_model), float64.

    (Vaswani et al. 2017, section 3.5, arXiv:1706.03762.) Raises ValueError for an odd ``d_model``.
    """
    angles = rotary.angles_at(positions, rotary.frequencies(base, d_model))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def sinusoidal_shift(by: float | int, d_model: int, base: float = 10000.0) -> Float[Tensor, "d_model d_model"]:
    """The matrix that shifts a sinusoidal position: M @ position(p) = position(p + by) for every p.

    It rotates each (sin, cos) pair by −by·ω_i independent of p, the property on which RoPE is built.
    """
    angles = rotary.angles_at(torch.tensor([by]), rotary.frequencies(base, d_model))
    pairs = rotary.pairs_of(d_model, "interleaved")
    return rotary.rotate(torch.eye(d_model, dtype=torch.float64)[:, None], -angles, pairs)[:, 0].T


def sinusoidal_term(distances: Tensor, d_model: int, base: float = 10000.0) -> Float[Tensor, "..."]:
    """position(m) · position(n) = Σ cos((m − n)·ω_i): the term of two positions without projections.

    The model's projections are left out; with them, q·k also has products of position and content.
    """
    return (distances.double()[..., None] * rotary.frequencies(base, d_model)).cos().sum(-1)


def learned_term(table: Float[Tensor, "positions d_model"]) -> Float[Tensor, "positions positions"]:
    """position(m) · position(n) of a learned table without projections; it depends on m and n, not on m − n alone."""
    return table.double() @ table.double().T


def mean_by_distance(term: Float[Tensor, "n n"]) -> Float[Tensor, "n"]:
    """The mean of a matrix along each diagonal on and below the main one: distance 0, 1, …, n − 1."""
    return torch.stack([term.diagonal(-distance).mean() for distance in range(len(term))])


# -- relative: numbers added to the scores ---------------------------------------------------------------------------


def t5_buckets(
    distances: Int[Tensor, "*any"], *, bidirectional: bool, n_buckets: int = 32, max_distance: int = 128
) -> Int[Tensor, "*any"]:
    """The bucket of each distance: one each for near keys, increasingly wide ones up to ``max_distance``, one beyond.

    Bidirectional: keys after the query have the second half of the buckets; otherwise they share bucket 0 with the
    query itself. Computed in float32 as in transformers, so that bucket borders agree. (Raffel et al. 2020, section
    2.1, arXiv:1910.10683; the logarithm is in its code.)
    """
    bucket = torch.zeros_like(distances)
    if bidirectional:
        n_buckets //= 2
        bucket = (distances < 0).long() * n_buckets
        away = distances.abs()
    else:
        away = distances.clamp(min=0)
    exact = n_buckets // 2
    far = torch.log(away.clamp(min=1).float() / exact) / math.log(max_distance / exact) * (n_buckets - exact)
    return bucket + torch.where(away < exact, away, (exact + far.long()).clamp(max=n_buckets - 1))


def t5_bias(
    distances: Int[Tensor, "*any"],
    table: Float[Tensor, "buckets heads"],
    *,
    bidirectional: bool,
    max_distance: int = 128,
) -> Float[Tensor, "heads *any"]:
    """The learned bias of each distance's bucket, added to the scores of a T5 (which are not scaled by √d)."""
    buckets = t5_buckets(distances, bidirectional=bidirectional, n_buckets=len(table), max_distance=max_distance)
    return table[buckets].movedim(-1, 0)


def alibi_slopes(n_heads: int) -> Float[Tensor, "heads"]:
    """2^(−8h/n) for h = 1 … n, float64; if n is no power of two, those of the next lower power, then every other slope
    of twice that power.

    (Press et al. 2022, arXiv:2108.12409; the second rule is in its code.) Raises ValueError for less than one head.
    """
    if n_heads < 1:
        raise ValueError(f"{n_heads} heads have no slopes; there must be at least one")
    power = 2 ** math.floor(math.log2(n_heads))
    own = [2.0 ** (-8 * h / power) for h in range(1, power + 1)]
    between = [2.0 ** (-4 * h / power) for h in range(1, 2 * power, 2)]
    return torch.tensor([*own, *between][:n_heads], dtype=torch.float64)


def alibi(distances: Tensor, slopes: Float[Tensor, "heads"]) -> Float[Tensor, "heads ..."]:
    """−slope · distance for keys at or before the query, added to the scores; causal models only."""
    return -slopes.view(-1, *[1] * distances.dim()) * distances


# -- rotary, for the same picture ------------------------------------------------------------------------------------


def rotary_term(distances: Tensor, theta: Float[Tensor, "pairs"]) -> Float[Tensor, "..."]:
    """Mean cos((m − n)·θ_i): q·k of two equal unit vectors spread evenly over the pairs, 1 at distance 0."""
    return (distances.double()[..., None] * theta.double()).cos().mean(-1)


@dataclass(frozen=True)
class Scheme:
    """One line of the table of position encodings; ``depends`` says on what its term of q·k depends."""

    name: str
    label: str
    enters: str
    stores: str
    depends: str
    extrapolates: str
    paper: str


POSITIONS = (
    Scheme(
        "sinusoidal", N_("sinusoidal"),
        N_("added to the embeddings, once"),
        N_("nothing: a formula"),
        N_("the difference, before the projections mix it with the content"),
        N_("defined at any position, but quality falls soon beyond the trained length"),
        "Vaswani et al. 2017, arXiv:1706.03762",
    ),
    Scheme(
        "learned", N_("learned"),
        N_("added to the embeddings, once"),
        N_("one vector for each position: length × d_model numbers"),
        N_("both positions, as training left them"),
        N_("no: there is no vector beyond the table"),
        "Gehring et al. 2017, arXiv:1705.03122",
    ),
    Scheme(
        "t5", N_("T5 buckets"),
        N_("added to the scores of every layer"),
        N_("one number for each bucket and head, shared by all layers"),
        N_("the difference, in buckets that grow with it"),
        N_("somewhat: all distances beyond the last border share one bucket"),
        "Raffel et al. 2020, arXiv:1910.10683",
    ),
    Scheme(
        "alibi", N_("ALiBi"),
        N_("added to the scores of every layer"),
        N_("nothing: one fixed slope for each head"),
        N_("the difference, in a straight line"),
        N_("yes: trained on short texts, it holds its quality on longer ones"),
        "Press et al. 2022, arXiv:2108.12409",
    ),
    Scheme(
        "rotary", N_("RoPE"),
        N_("turns the queries and keys of every layer"),
        N_("nothing: a formula"),
        N_("the difference, together with both contents"),
        N_("poorly by itself; with its frequencies scaled (linear, NTK, YaRN), yes"),
        "Su et al. 2021, arXiv:2104.09864",
    ),
)  # fmt: skip  # one scheme a paragraph reads better than one argument a line
