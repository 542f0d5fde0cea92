"""A head that computes its mask and scores on demand, so that a long text costs only what the variant needs."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.rotary import angles_at, frequencies, pairs_of, rotate
from attention.zoo.head import Head
from attention.zoo.layer import Layer

BASE = 10_000.0  # of the assumed rotation (Su et al. 2021, arXiv:2104.09864)


class LongHead(Head):
    """Like :class:`Head`, with plain scaled products, in the dtype of ``q``; never allocates a queries × keys matrix.

    ``second`` are the queries and keys of the adjacent head.
    """

    def __init__(
        self,
        q: Float[Tensor, "tokens d_head"],
        k: Float[Tensor, "tokens d_head"],
        v: Float[Tensor, "tokens d_value"],
        *,
        causal: bool,
        second: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        layer = Layer(k[None], v[None], turn_at=_turned if q.shape[1] > 1 else None)  # the layer's only head
        held = {"q": q, "k": k, "v": v, "scale": q.shape[1] ** -0.5, "sink": None, "causal": causal, "second": second,
                "layer": layer, "kv_head": 0}  # fmt: skip  # as a Head has it
        for name, value in held.items():
            object.__setattr__(self, name, value)  # a Head is frozen

    causal: bool
    second: tuple[Tensor, Tensor] | None

    @property
    def keep(self) -> Bool[Tensor, "tokens tokens"]:  # type: ignore[override]  # O(tokens²), made anew
        keep = torch.ones(self.n_tokens, self.n_tokens, dtype=torch.bool, device=self.q.device)
        return keep.tril() if self.causal else keep

    @property
    def scores(self) -> Float[Tensor, "tokens tokens"]:  # type: ignore[override]  # O(tokens²), made anew
        return self.tile(slice(None), slice(None))

    @property
    def beside(self) -> Float[Tensor, "tokens tokens"] | None:  # type: ignore[override]  # O(tokens²), made anew
        return None if self.second is None else LongHead(*self.second, self.v, causal=self.causal).scores

    @property
    def sees_all(self) -> bool:
        return not self.causal

    @property
    def sees_past(self) -> bool:
        return self.causal

    def tile(self, rows: slice, columns: slice) -> Float[Tensor, "queries keys"]:
        scores = self.q[rows] @ self.k[columns].T * self.scale
        if not self.causal:
            return scores
        places = torch.arange(self.n_tokens, device=self.q.device)
        return scores.masked_fill(places[columns][None, :] > places[rows][:, None], -torch.inf)


def _turned(x: Float[Tensor, "tokens d_head"], places: Int[Tensor, "tokens"]) -> Float[Tensor, "tokens d_head"]:
    """Apply the assumed rotation to vectors that count as not rotated yet."""
    d_turned = x.shape[1] // 2 * 2
    return rotate(x, angles_at(places, frequencies(BASE, d_turned)), pairs_of(d_turned, "half"))
