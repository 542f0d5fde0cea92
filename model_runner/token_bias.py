"""Learned projections of tokens that are added to scores, kept as a row per token.

Doge's dynamic mask (Shi et al. 2025, arXiv:2508.02124) gives every key one number, which is added to all of its scores.
Inkling's relative logits give every query a number for each distance, a mix of learned profiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class KeyBias:
    """``values[h // group, j]`` is added to every score of key j in head h."""

    values: Float[Tensor, "kv_heads keys"]
    group: int  # heads that share a row

    @property
    def nbytes(self) -> int:
        return self.values.nbytes

    @property
    def rows(self) -> tuple[Tensor, ...]:
        """The tensors with a row per token, tokens first."""
        return (self.values.T,)

    def with_rows(self, rows: Sequence[Tensor]) -> KeyBias:
        """The same for the tokens of these rows."""
        return replace(self, values=rows[0].T)

    def tile(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"]:
        """The bias of a tile, float32; slices have explicit bounds."""
        own = torch.arange(heads.start, heads.stop, device=self.values.device) // self.group
        return self.values[own, keys].float()[:, None].expand(-1, queries.stop - queries.start, -1)

    def largest(self) -> Float[Tensor, "heads"]:
        """The largest absolute value for each head, float32."""
        return self.values.float().abs().amax(dim=-1).repeat_interleave(self.group)

    def sharpened(self, head: int, temperature: float) -> KeyBias:
        """The same with one head's bias divided by a temperature."""
        values = self.values.repeat_interleave(self.group, dim=0)
        values[head] /= temperature
        return KeyBias(values, 1)


@dataclass(frozen=True, eq=False)
class ProfileBias:
    """``factors[i] · (states[h, i] · profiles[:, d])`` where the key is d places before the query.

    0 where it is after the query, or farther before it than the profiles reach. The model rounds the product, and that
    times the factor, to its dtype.
    """

    states: Float[Tensor, "heads queries d_rel"]
    profiles: Float[Tensor, "d_rel distances"]
    factors: Float[Tensor, "queries"]

    @property
    def nbytes(self) -> int:
        return self.states.nbytes + self.factors.nbytes

    @property
    def rows(self) -> tuple[Tensor, ...]:
        """The tensors with a row per token, tokens first."""
        return self.states.transpose(0, 1), self.factors

    def with_rows(self, rows: Sequence[Tensor]) -> ProfileBias:
        """The same for the tokens of these rows."""
        return replace(self, states=rows[0].transpose(0, 1), factors=rows[1])

    def tile(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"]:
        """The bias of a tile, float32; O(heads × queries × (keys + distances between them)) memory.

        Slices have explicit bounds.
        """
        device, extent = self.states.device, self.profiles.shape[1]
        back = torch.arange(queries.start, queries.stop, device=device)[:, None]
        back = back - torch.arange(keys.start, keys.stop, device=device)
        least, most = max(queries.start - keys.stop + 1, 0), min(queries.stop - 1 - keys.start, extent - 1)
        count = heads.stop - heads.start
        if most < least or back.numel() == 0:
            return torch.zeros(count, *back.shape, device=device)
        dtype = self.states.dtype
        made = (self.states[heads, queries].float() @ self.profiles[:, least : most + 1].float()).to(dtype)
        made = (made.float() * self.factors[queries, None]).to(dtype).float()
        chosen = made.gather(-1, (back - least).clamp(0, most - least).expand(count, -1, -1))
        return chosen.masked_fill((back < 0) | (back >= extent), 0.0)

    def largest(self) -> Float[Tensor, "heads"]:
        """An upper bound of the absolute value for each head, float32."""
        longest = (self.states.float().norm(dim=-1) * self.factors).amax(dim=-1)
        return longest * self.profiles.float().norm(dim=0).amax()

    def sharpened(self, head: int, temperature: float) -> ProfileBias:
        """The same with one head's bias divided by a temperature."""
        states = self.states.clone()
        states[head] /= temperature
        return replace(self, states=states)


TokenBias = KeyBias | ProfileBias
