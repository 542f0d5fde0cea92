"""The input of a variant: one head's queries, keys and values, as in its model's attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.zoo.layer import Layer


@dataclass(frozen=True, eq=False)
class Head:
    """One head over one text, float64; queries and keys belong to the same tokens.

    ``scores`` are the model's own before the softmax: scaled, soft-capped, biased, −inf where masked. ``beside`` are
    those of a second head of the layer, None if there is only one; ``sink`` is a learned sink's logit. ``layer`` has
    the keys and values of all heads, of which ``kv_head`` is this one's; None if the rotation of keys cannot be undone.
    :func:`stacked` heads have a leading axis of heads.
    """

    q: Float[Tensor, "*heads tokens d_head"]
    k: Float[Tensor, "*heads tokens d_head"]
    v: Float[Tensor, "*heads tokens d_value"]
    scale: float
    keep: Bool[Tensor, "*heads tokens tokens"]
    scores: Float[Tensor, "*heads tokens tokens"]
    beside: Float[Tensor, "tokens tokens"] | None = None
    sink: float | Float[Tensor, "queries"] | None = None
    layer: Layer | None = None
    kv_head: int = 0

    @property
    def n_tokens(self) -> int:
        return self.q.shape[-2]

    @property
    def sees_all(self) -> bool:
        """True if every query may attend to every key."""
        return bool(self.keep.all())

    @property
    def sees_past(self) -> bool:
        """True if the mask is exactly causal."""
        return torch.equal(self.keep, torch.ones_like(self.keep).tril())

    @property
    def elsewhere(self) -> bool:
        """True if queries do not attend to themselves: cross-attention."""
        looks, themselves = self.keep.any(-1), self.keep.diagonal(dim1=-2, dim2=-1)
        return bool(looks.any()) and not bool((looks & themselves).any())

    @property
    def plain(self) -> bool:
        """True if its scores are only scaled products of queries and keys, and there is no sink."""
        products = (self.q @ self.k.T * self.scale)[self.keep]
        return self.sink is None and torch.allclose(self.scores[self.keep], products, rtol=1e-4, atol=1e-4)

    @property
    def looks_ahead(self) -> bool:
        """True if a query may attend to a later key."""
        return bool(self.keep.triu(1).any())

    def tile(self, rows: slice, columns: slice) -> Float[Tensor, "*heads queries keys"]:
        """The scores of these queries and keys."""
        return self.scores[..., rows, columns]

    def blank_state(self) -> Float[Tensor, "*heads d_head d_value"]:
        """An empty memory."""
        return self.v.new_zeros(*self.k.shape[:-2], self.k.shape[-1], self.v.shape[-1])

    def softmax(self) -> Float[Tensor, "tokens tokens"]:
        """The head's own weights."""
        return softmax_rows(self.scores, self.sink)


def head_of(
    q: Float[Tensor, "tokens d_head"],
    k: Float[Tensor, "tokens d_head"],
    v: Float[Tensor, "tokens d_value"],
    *,
    causal: bool,
) -> Head:
    """A head with plain scaled dot products of any vectors."""
    q, k, v = q.double(), k.double(), v.double()
    keep = torch.ones(len(q), len(q), dtype=torch.bool)
    keep = keep.tril() if causal else keep
    scale = q.shape[1] ** -0.5
    return Head(q, k, v, scale, keep, (q @ k.T * scale).masked_fill(~keep, -torch.inf))


def stacked(heads: Sequence[Head]) -> Head:
    """Stack heads of one layer without sinks; ``beside`` and ``layer`` are left out."""

    def together(name: str) -> Tensor:
        return torch.stack([getattr(one, name) for one in heads])

    q, k, v, keep, scores = map(together, ("q", "k", "v", "keep", "scores"))
    return Head(q, k, v, heads[0].scale, keep, scores)


def softmax_rows(
    scores: Float[Tensor, "*heads queries keys"], sink: float | Float[Tensor, "queries"] | None = None
) -> Float[Tensor, "*heads queries keys"]:
    """Rows that sum to 1, or less by a sink's share; 0 for an empty row."""
    lse = torch.logsumexp(scores, dim=-1, keepdim=True)
    if sink is not None:
        lse = torch.logaddexp(lse, sink_column(sink).to(lse).expand_as(lse))
    return torch.exp(scores - torch.where(torch.isneginf(lse), 0.0, lse))


def sink_column(sink: float | Float[Tensor, "queries"]) -> Float[Tensor, "*queries_and_one"]:
    """A sink shared by all queries as a number, a sink per query as a column."""
    sink = torch.as_tensor(sink)
    return sink[:, None] if sink.dim() else sink


def normalised(rows: Float[Tensor, "queries keys"]) -> Float[Tensor, "queries keys"]:
    """Each row divided by its sum; a zero row stays."""
    total = rows.sum(-1, keepdim=True)
    return rows / torch.where(total == 0, 1.0, total)
