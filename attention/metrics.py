"""Head metrics, one number per query: each metric is one function and one line in ``METRICS``.

A metric receives a block of query rows of every head of a layer and gives one value per head and query, NaN where it is
undefined (the first token has no previous token). A head's value is the mean over its defined queries, so that blocks
can be processed one after another without a queries × keys matrix. A metric with a choice per head, such as its most
used offset, returns each candidate's sum over a block (``candidates``); the caller adds up all blocks and passes each
head's choice back (``Rows.chosen``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention import distributions

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True, eq=False)
class Rows:
    """A block of consecutive query rows: their weights over all keys, their indices, and the ids of all tokens.

    ``chosen`` is each head's candidate, for metrics with candidates; without it the block is all rows.
    """

    weights: Float[Tensor, "heads queries keys"]
    q_idx: Int[Tensor, "queries"]
    token_ids: Int[Tensor, "keys"]
    chosen: Int[Tensor, "heads"] | None = None

    @property
    def k_idx(self) -> Int[Tensor, "keys"]:
        return torch.arange(self.token_ids.shape[0], device=self.token_ids.device)

    @property
    def shares(self) -> Float[Tensor, "heads queries keys"]:
        """Weights normalized over tokens: rows sum to 1 even if a learned sink takes a part, or to 0 if empty."""
        total = self.weights.sum(-1, keepdim=True)
        return torch.where(total > 0, self.weights / total, self.weights)

    def of_looking(self, values: Float[Tensor, "heads queries"]) -> Float[Tensor, "heads queries"]:
        """Set the values of empty rows to NaN, since entropy or distance is undefined there."""
        return values.masked_fill((self.weights == 0).all(-1), torch.nan)

    def at(self, offset: int) -> Float[Tensor, "heads queries"]:
        """The weight on the key ``offset`` positions from the query; NaN if there is no such key."""
        k_idx = self.q_idx + offset
        inside = (k_idx >= 0) & (k_idx < self.token_ids.shape[0])
        picked = self.weights.gather(
            2, k_idx.clamp(0, len(self.token_ids) - 1).expand(len(self.weights), -1)[..., None]
        )
        return picked[..., 0].masked_fill(~inside, torch.nan)

    def on(self, chosen: Tensor) -> Float[Tensor, "heads queries"]:
        """The summed weight on selected (queries, keys) cells; NaN in rows without any."""
        total = (self.weights * chosen).sum(-1)
        return total.masked_fill(~chosen.any(-1), torch.nan)


def entropy(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Shannon entropy of the row in bits: 0 for one token, log2(n) for n equal weights; NaN for an empty row."""
    return rows.of_looking(distributions.entropy(rows.shares))


def mean_distance(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Mean distance in tokens between query and key, weighted by attention; NaN for an empty row."""
    distance = (rows.q_idx[:, None] - rows.k_idx[None, :]).abs()
    return rows.of_looking((rows.shares * distance).sum(-1))


def previous_token(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight on the previous token; undefined for the first token."""
    return rows.at(-1)


def first_token(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight on the first token of the text; undefined for that token itself."""
    sink = rows.weights[..., 0]
    return sink.masked_fill(rows.q_idx == 0, torch.nan)


def current_token(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight of a token on itself; undefined for the first token, which in a causal model has no other key."""
    return rows.at(0).masked_fill(rows.q_idx == 0, torch.nan)


def duplicate_token(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight on earlier occurrences of the same token; undefined if there are none."""
    same = rows.token_ids[rows.q_idx][:, None] == rows.token_ids[None, :]
    return rows.on(same & (rows.k_idx[None, :] < rows.q_idx[:, None]))


def induction(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight on the tokens after earlier occurrences of the query's token; undefined if there are none."""
    before = torch.roll(rows.token_ids, 1)
    followed = rows.token_ids[rows.q_idx][:, None] == before[None, :]
    return rows.on(followed & (rows.k_idx[None, :] >= 1) & (rows.k_idx[None, :] <= rows.q_idx[:, None]))


def offset_totals(rows: Rows) -> Float[Tensor, "heads offsets"]:
    """The block's total weight by offset: index ``i`` is for keys ``i − (n − 1)`` positions after their query.

    The first token is left out: in a causal model it attends only to itself. O(cells).
    """
    weights = rows.weights.masked_fill((rows.q_idx == 0)[:, None], 0.0)
    heads, n_queries, n_keys = weights.shape
    totals = weights.new_zeros(heads, 2 * n_keys - 1)
    if not n_queries:
        return totals
    # Rows from last to first, each shifted right by one relative to the row above, so that columns are offsets.
    width = n_keys + n_queries - 1
    padded = torch.nn.functional.pad(weights.flip(1), (0, n_queries)).flatten(1)
    first = n_keys - 1 - int(rows.q_idx[-1])  # of the first key relative to the block's last query
    totals[:, first : first + width] = padded[:, : n_queries * width].reshape(heads, n_queries, width).sum(1)
    return totals


def own_offset(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight at the offset with most of the head's weight, 0 if there is no such key; undefined for the first token.

    A head is positional if at least 90 % of its rows have their maximum at one offset (Voita et al. 2019,
    arXiv:1905.09418).
    """
    chosen = offset_totals(rows).argmax(-1) if rows.chosen is None else rows.chosen
    keys = rows.q_idx[None, :] + chosen[:, None] - (len(rows.token_ids) - 1)
    inside = (keys >= 0) & (keys < len(rows.token_ids))
    picked = rows.weights.gather(2, keys.clamp(0, len(rows.token_ids) - 1)[..., None])[..., 0]
    return picked.masked_fill(~inside, 0.0).masked_fill(rows.q_idx == 0, torch.nan)


@dataclass(frozen=True)
class Metric:
    """One line of the table; ``unit`` is how the number is formatted: a share in 0..1, bits, or tokens."""

    name: str
    of: Callable[[Rows], Tensor]
    label: str
    definition: str
    unit: str
    source: str
    across: bool = False  # also defined for cross-attention
    candidates: Callable[[Rows], Tensor] | None = None  # (heads, candidates) sums, of which each head uses its largest


METRICS = (
    Metric(
        "previous", previous_token, N_("previous token"),
        N_("share of attention on the token just before"),
        "share", "Clark et al. 2019, arXiv:1906.04341",
    ),
    Metric(
        "first", first_token, N_("first token (sink)"),
        N_("share of attention parked on the first token"),
        "share", "Xiao et al. 2023, arXiv:2309.17453", across=True,
    ),
    Metric(
        "offset", own_offset, N_("most used offset"),
        N_("share of attention on the one distance that the head uses most"),
        "share", "Voita et al. 2019, arXiv:1905.09418", candidates=offset_totals,
    ),
    Metric(
        "current", current_token, N_("current token"),
        N_("share of attention a token keeps on itself"),
        "share", "Clark et al. 2019, arXiv:1906.04341",
    ),
    Metric(
        "duplicate", duplicate_token, N_("duplicate token"),
        N_("share of attention on earlier copies of the same token"),
        "share", "Wang et al. 2022, arXiv:2211.00593",
    ),
    Metric(
        "induction", induction, N_("induction"),
        N_("share of attention on what followed earlier copies of the same token"),
        "share", "Olsson et al. 2022, arXiv:2209.11895",
    ),
    Metric(
        "entropy", entropy, N_("entropy"),
        N_("how widely a token spreads its attention: 0 bits is one token, more is many"),
        "bits", "Clark et al. 2019, arXiv:1906.04341", across=True,
    ),
    Metric(
        "distance", mean_distance, N_("mean distance"),
        N_("how many tokens away it looks on average"),
        "tokens", "Vig & Belinkov 2019, arXiv:1906.04284",
    ),
)  # fmt: skip  # one metric a paragraph reads better than one argument a line
