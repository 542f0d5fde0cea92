"""What a head does, in one number per query: each metric is one function and one line in ``METRICS``.

A metric sees a block of query rows of every head of a layer and gives one value per head and query, NaN where it is
not defined (the first token has no previous token). A head's value is the mean over its defined queries, so blocks
can be taken one after the other and no queries × keys matrix is held. A metric that has to choose for each head, such
as the offset that it uses most, says how much of each candidate a block has (``candidates``); who has added up all
blocks gives the chosen ones back (``Rows.chosen``).
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
    """A block of query rows, one after the other: their weights over every key, their indices, the ids of all tokens.

    ``chosen`` is the candidate of each head, for a metric that has candidates; without it a block is all rows.
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
        """Of what goes to tokens: rows sum to 1, also where a learned sink takes a part; to 0 where nothing is seen."""
        total = self.weights.sum(-1, keepdim=True)
        return torch.where(total > 0, self.weights / total, self.weights)

    def of_looking(self, values: Float[Tensor, "heads queries"]) -> Float[Tensor, "heads queries"]:
        """NaN in rows that see nothing: they look nowhere, and that is neither narrow nor near."""
        return values.masked_fill((self.weights == 0).all(-1), torch.nan)

    def at(self, offset: int) -> Float[Tensor, "heads queries"]:
        """The weight on the key ``offset`` places from the query; NaN where there is no such key."""
        k_idx = self.q_idx + offset
        inside = (k_idx >= 0) & (k_idx < self.token_ids.shape[0])
        picked = self.weights.gather(
            2, k_idx.clamp(0, len(self.token_ids) - 1).expand(len(self.weights), -1)[..., None]
        )
        return picked[..., 0].masked_fill(~inside, torch.nan)

    def on(self, chosen: Tensor) -> Float[Tensor, "heads queries"]:
        """The summed weight on chosen (queries, keys) cells; NaN in rows where none is chosen."""
        total = (self.weights * chosen).sum(-1)
        return total.masked_fill(~chosen.any(-1), torch.nan)


def entropy(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Shannon entropy of the row in bits: 0 looks at one token, log2(n) at n tokens alike; of a row that looks."""
    return rows.of_looking(distributions.entropy(rows.shares))


def mean_distance(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Mean number of tokens between the query and where it looks, weighted by the weights; of a row that looks."""
    distance = (rows.q_idx[:, None] - rows.k_idx[None, :]).abs()
    return rows.of_looking((rows.shares * distance).sum(-1))


def previous_token(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight on the token just before; not defined for the first token."""
    return rows.at(-1)


def first_token(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight on the first token of the text; not defined for that token itself."""
    sink = rows.weights[..., 0]
    return sink.masked_fill(rows.q_idx == 0, torch.nan)


def current_token(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight of a token on itself; not defined for the first token, which in a causal model sees nothing else."""
    return rows.at(0).masked_fill(rows.q_idx == 0, torch.nan)


def duplicate_token(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight on earlier occurrences of the same token; not defined where there is none."""
    same = rows.token_ids[rows.q_idx][:, None] == rows.token_ids[None, :]
    return rows.on(same & (rows.k_idx[None, :] < rows.q_idx[:, None]))


def induction(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight on the tokens that followed earlier occurrences of the query's token; not defined where there is none."""
    before = torch.roll(rows.token_ids, 1)
    followed = rows.token_ids[rows.q_idx][:, None] == before[None, :]
    return rows.on(followed & (rows.k_idx[None, :] >= 1) & (rows.k_idx[None, :] <= rows.q_idx[:, None]))


def offset_totals(rows: Rows) -> Float[Tensor, "heads offsets"]:
    """The weight of the block on each offset: place ``i`` is that of keys ``i − (n − 1)`` places after their query.

    The first token is left out: in a causal model it sees nothing but itself. O(cells).
    """
    weights = rows.weights.masked_fill((rows.q_idx == 0)[:, None], 0.0)
    heads, n_queries, n_keys = weights.shape
    totals = weights.new_zeros(heads, 2 * n_keys - 1)
    if not n_queries:
        return totals
    # Rows from the last to the first, each one place further right than the one above it: columns are offsets.
    width = n_keys + n_queries - 1
    padded = torch.nn.functional.pad(weights.flip(1), (0, n_queries)).flatten(1)
    first = n_keys - 1 - int(rows.q_idx[-1])  # of the first key, seen from the block's last query
    totals[:, first : first + width] = padded[:, : n_queries * width].reshape(heads, n_queries, width).sum(1)
    return totals


def own_offset(rows: Rows) -> Float[Tensor, "heads queries"]:
    """Weight at the offset that has most of the head's weight, 0 without such a key; not defined for the first token.

    An offset that 90 % of a head's rows look at most makes it a positional head (Voita et al. 2019, arXiv:1905.09418).
    """
    chosen = offset_totals(rows).argmax(-1) if rows.chosen is None else rows.chosen
    keys = rows.q_idx[None, :] + chosen[:, None] - (len(rows.token_ids) - 1)
    inside = (keys >= 0) & (keys < len(rows.token_ids))
    picked = rows.weights.gather(2, keys.clamp(0, len(rows.token_ids) - 1)[..., None])[..., 0]
    return picked.masked_fill(~inside, 0.0).masked_fill(rows.q_idx == 0, torch.nan)


@dataclass(frozen=True)
class Metric:
    """One line of the table; ``unit`` says how the number is written: a share 0..1, bits, or tokens."""

    name: str
    of: Callable[[Rows], Tensor]
    label: str
    definition: str
    unit: str
    source: str
    across: bool = False  # means something too where one text looks at another
    candidates: Callable[[Rows], Tensor] | None = None  # (heads, candidates) sums, of which a head has its largest


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
