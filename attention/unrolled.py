"""Layers without softmax as matrices: a state's recurrence, unrolled into each token's weight on each earlier one.

A recurrence that is linear in its inputs is a lower-triangular matrix times these inputs (Ali et al. 2024,
arXiv:2403.01590): row t has the weight of each earlier token's input in the output at t. Entries may be negative, and
rows do not sum to 1. If every channel has a matrix of its own, a head stands for a group of adjacent channels, and its
map is the mean of their matrices.

Tensors are float32 and have no batch axis. Sums of logarithms are float64, on the CPU, and only their differences are
used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

BLOCK = 16  # keys whose decays are multiplied with those of later queries, so that both factors are at most 1
AT_ONCE = 2**23  # numbers in the largest temporary tensor
MOST_HEADS = 16  # into which channels are grouped

N_ = str  # marks a text for Babel without translating it here


class Unrolled(ABC):
    """A layer as a matrix: for each head, or channel of a head, a lower-triangular matrix × its inputs."""

    label: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    signed: ClassVar[bool] = True  # False: a weighted mean, whose rows sum to 1

    @property
    @abstractmethod
    def n_tokens(self) -> int:
        """Of the text."""

    @property
    @abstractmethod
    def channels(self) -> int:
        """Number of matrices over which a head's map is averaged; 1: it is the head's own."""

    @abstractmethod
    def tile(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"]:
        """A part of the maps. O(tile) memory, and O(queries × tokens) if rows have a denominator."""

    @abstractmethod
    def outputs(
        self, queries: slice, x: Float[Tensor, "heads tokens d_value"]
    ) -> tuple[Float[Tensor, "heads queries d_value"], Float[Tensor, "heads queries d_value"]]:
        """Every matrix times its inputs, and the sums of absolute terms, by which rounding errors are measured."""

    @property
    def nbytes(self) -> int:
        """Bytes of its tensors."""
        values = (getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]  # all are dataclasses
        return sum(value.nbytes for value in values if isinstance(value, Tensor))


@dataclass(frozen=True, eq=False)
class StateSpaceHeads(Unrolled):
    """Mamba-2: one decay per head. ``decay`` are the logarithms of each step's factor, ``step`` its size."""

    q: Float[Tensor, "heads tokens d_state"]  # C
    k: Float[Tensor, "heads tokens d_state"]  # B
    decay: Float[Tensor, "heads tokens"]
    step: Float[Tensor, "heads tokens"]

    label: ClassVar[str] = N_("state space (Mamba-2)")
    formula: ClassVar[str] = "M[t, j] = (C_t · B_j) · exp(Σ_{j<i≤t} Δ_i A) · Δ_j,  y_t = Σ_{j≤t} M[t, j] · x_j"
    source: ClassVar[str] = "Dao & Gu 2024, arXiv:2405.21060; Ali et al. 2024, arXiv:2403.01590"

    @property
    def n_tokens(self) -> int:
        return self.q.shape[1]

    @property
    def channels(self) -> int:
        return 1

    def tile(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"]:
        products = self.q[heads, queries] @ self.k[heads, keys].transpose(1, 2)
        total = _totals(self.decay[heads])
        return products * _decayed(total, None, queries, keys, products) * self.step[heads, None, keys]

    def outputs(self, queries: slice, x: Float[Tensor, "heads tokens d_value"]) -> tuple[Tensor, Tensor]:
        upto = slice(0, queries.stop)
        sizes = StateSpaceHeads(self.q.abs(), self.k.abs(), self.decay, self.step)
        every = slice(0, len(self.q)), queries, upto
        return self.tile(*every) @ x[:, upto], sizes.tile(*every) @ x[:, upto].abs()


@dataclass(frozen=True, eq=False)
class MatrixMemory(Unrolled):
    """xLSTM's mLSTM: gates for each head, and a denominator for each row. ``keep`` and ``enter`` are logarithms."""

    q: Float[Tensor, "heads tokens d_head"]
    k: Float[Tensor, "heads tokens d_head"]
    keep: Float[Tensor, "heads tokens"]  # of the forget gate
    enter: Float[Tensor, "heads tokens"]  # of the input gate
    eps: float  # added to the denominator

    label: ClassVar[str] = N_("matrix memory (mLSTM)")
    formula: ClassVar[str] = (
        "M[t, j] = (q_t · k_j / √d) · exp(ĩ_j + Σ_{j<i≤t} log f_i) / max(|Σ_j …|, 1),  h_t = Σ_{j≤t} M[t, j] · v_j"
    )
    source: ClassVar[str] = "Beck et al. 2024, arXiv:2405.04517"

    @property
    def n_tokens(self) -> int:
        return self.q.shape[1]

    @property
    def channels(self) -> int:
        return 1

    def tile(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"]:
        return self._rows(heads, queries)[0][..., keys]

    def outputs(self, queries: slice, x: Float[Tensor, "heads tokens d_value"]) -> tuple[Tensor, Tensor]:
        rows, sizes = self._rows(slice(0, len(self.q)), queries)
        found = rows @ x
        return found, sizes @ x.abs() + sizes.sum(-1, keepdim=True) * found.abs()  # the denominator is a sum too

    def _rows(self, heads: slice, queries: slice) -> tuple[Tensor, Tensor]:
        """Whole rows, and the sums of absolute terms of their entries."""
        q, k, total = self.q[heads, queries], self.k[heads], _totals(self.keep[heads])
        scale, every = q.shape[-1] ** -0.5, slice(0, self.n_tokens)
        own = self.enter[heads].double().cpu()
        largest = (own - total).cummax(-1).values.clamp(min=0.0)[:, queries]  # an empty memory counts as exp(0)
        floor = (-(total[:, queries] + largest)).exp().to(q)[..., None]
        gates = _decayed(total, own, queries, every, q, largest)
        found = q @ k.transpose(1, 2) * scale * gates
        below = found.sum(-1, keepdim=True).abs().maximum(floor) + self.eps
        return found / below, q.abs() @ k.abs().transpose(1, 2) * scale * gates / below


class OfChannels(Unrolled):
    """One matrix per channel, with heads that stand for groups of adjacent channels."""

    @property
    @abstractmethod
    def n_channels(self) -> int: ...

    @property
    def channels(self) -> int:
        return self.n_channels // heads_of(self.n_channels)

    def channel(self, channel: int, queries: slice, keys: slice) -> Float[Tensor, "queries keys"]:
        """A part of one channel's matrix."""
        return self._matrices(slice(channel, channel + 1), queries, keys)[0]

    def tile(self, heads: slice, queries: slice, keys: slice) -> Float[Tensor, "heads queries keys"]:
        maps: list[Tensor] = []
        for head in range(heads.start, heads.stop):
            first, last = head * self.channels, (head + 1) * self.channels
            parts = [self._matrices(some, queries, keys).sum(0) for some in self._some(first, last, queries, keys)]
            maps.append(torch.stack(parts).sum(0) / self.channels)
        return torch.stack(maps)

    def outputs(self, queries: slice, x: Float[Tensor, "heads tokens d_value"]) -> tuple[Tensor, Tensor]:
        upto, flat = slice(0, queries.stop), x.transpose(1, 2).flatten(0, 1)  # (channels, tokens)
        found, sizes = list[Tensor](), list[Tensor]()
        for some in self._some(0, self.n_channels, queries, upto):
            here = flat[some, upto, None]
            found.append((self._matrices(some, queries, upto) @ here)[..., 0])
            sizes.append((self._sizes(some, queries, upto) @ here.abs())[..., 0])
        shape = len(x), -1, queries.stop - queries.start  # (heads, channels, queries)
        return torch.cat(found).view(shape).transpose(1, 2), torch.cat(sizes).view(shape).transpose(1, 2)

    def _some(self, first: int, last: int, queries: slice, keys: slice) -> Iterator[slice]:
        n_rows, n_keys = queries.stop - queries.start, max(keys.stop - keys.start, BLOCK * self.width)
        count = max(1, AT_ONCE // max(1, n_rows * n_keys))
        return (slice(start, min(start + count, last)) for start in range(first, last, count))

    @property
    def width(self) -> int:
        """Dimension of a channel's state."""
        return 1

    @abstractmethod
    def _matrices(self, some: slice, queries: slice, keys: slice) -> Float[Tensor, "channels queries keys"]: ...

    def _sizes(self, some: slice, queries: slice, keys: slice) -> Float[Tensor, "channels queries keys"]:
        return self._matrices(some, queries, keys)


@dataclass(frozen=True, eq=False)
class StateSpaceChannels(OfChannels):
    """Mamba: one decay for each dimension of each channel's state; C and B are shared by all channels."""

    q: Float[Tensor, "tokens d_state"]  # C
    k: Float[Tensor, "tokens d_state"]  # A, negative
    rates: Float[Tensor, "channels d_state"]  # A, below 0
    step: Float[Tensor, "channels tokens"]  # Δ

    label: ClassVar[str] = N_("selective state space (Mamba)")
    formula: ClassVar[str] = (
        "α[t, j] = C_t · exp(A Σ_{j<i≤t} Δ_i) · B_j Δ_j in each channel,  y_t = Σ_{j≤t} α[t, j] · x_j"
    )
    source: ClassVar[str] = "Ali et al. 2024, arXiv:2403.01590; Gu & Dao 2023, arXiv:2312.00752"

    @property
    def n_tokens(self) -> int:
        return len(self.q)

    @property
    def n_channels(self) -> int:
        return len(self.rates)

    @property
    def width(self) -> int:
        return self.q.shape[1]

    def _matrices(self, some: slice, queries: slice, keys: slice) -> Float[Tensor, "channels queries keys"]:
        """Process a block of keys at a time; for later queries the decay is split at the block's end."""
        rates, step = self.rates[some], self.step[some]
        total = _totals(step)
        found = step.new_zeros(len(rates), queries.stop - queries.start, keys.stop - keys.start)
        for start in range(keys.start, keys.stop, BLOCK):
            block = slice(start, min(start + BLOCK, keys.stop))
            columns = slice(block.start - keys.start, block.stop - keys.start)
            near = slice(max(queries.start, block.start), min(queries.stop, block.stop))
            if near.start < near.stop:
                past = (total[:, near, None] - total[:, None, block]).to(step)
                past = past.masked_fill_(~_seen(near, block, step.device), torch.inf)  # masks later keys
                decay = (rates[:, None, None] * past[..., None]).exp_()  # (channels, near, block, state)
                both = (self.q[near, None] * self.k[None, block]).expand_as(decay)
                found[:, near.start - queries.start : near.stop - queries.start, columns] = (decay * both).sum(-1)
            far = slice(max(queries.start, block.stop), queries.stop)
            if far.start < far.stop:
                end = total[:, block.stop - 1, None]
                after = (rates[:, None] * (total[:, far] - end).to(step)[..., None]).exp_() * self.q[far]
                before = (rates[:, None] * (end - total[:, block]).to(step)[..., None]).exp_() * self.k[block]
                found[:, far.start - queries.start :, columns] = after @ before.transpose(1, 2)
        return found * step[:, None, keys]

    def _sizes(self, some: slice, queries: slice, keys: slice) -> Float[Tensor, "channels queries keys"]:
        every = StateSpaceChannels(self.q.abs(), self.k.abs(), self.rates, self.step)
        return every._matrices(some, queries, keys)


@dataclass(frozen=True, eq=False)
class DecayedMean(OfChannels):
    """RWKV-4's WKV: in each channel the mean of the values, weighted by exp(key) and decaying with distance."""

    k: Float[Tensor, "channels tokens"]
    decay: Float[Tensor, "channels"]  # w, positive: decrease of a weight's logarithm per token
    bonus: Float[Tensor, "channels"]  # u: added for the current token, instead of a decay

    label: ClassVar[str] = N_("weighted mean of the past (RWKV’s WKV)")
    formula: ClassVar[str] = (
        "M[t, j] = exp(k_j − (t − 1 − j) w) / Σ, exp(k_t + u) / Σ at j = t, in each channel,  "
        "wkv_t = Σ_{j≤t} M[t, j] · v_j"
    )
    source: ClassVar[str] = "Peng et al. 2023, arXiv:2305.13048; Ali et al. 2024, arXiv:2403.01590"
    signed: ClassVar[bool] = False

    @property
    def n_tokens(self) -> int:
        return self.k.shape[1]

    @property
    def n_channels(self) -> int:
        return len(self.k)

    def _matrices(self, some: slice, queries: slice, keys: slice) -> Float[Tensor, "channels queries keys"]:
        upto = slice(0, queries.stop)
        ago = torch.arange(queries.start, queries.stop)[:, None] - torch.arange(queries.stop)
        since = (ago - 1).to(self.k)
        scores = self.k[some, None, upto] - self.decay[some, None, None] * since
        own = (self.k[some] + self.bonus[some, None])[:, None, upto]
        scores = torch.where((ago == 0).to(scores.device), own, scores)
        scores = scores.masked_fill_((ago < 0).to(scores.device), -torch.inf)
        found = scores.softmax(-1)[..., keys.start : min(keys.stop, queries.stop)]
        return torch.nn.functional.pad(found, (0, keys.stop - keys.start - found.shape[-1]))


def heads_of(n_channels: int) -> int:
    """Number of heads into which these channels are grouped: a divisor of their number, up to MOST_HEADS."""
    return max(count for count in range(1, MOST_HEADS + 1) if n_channels % count == 0)


def _totals(logs: Float[Tensor, "any tokens"]) -> Float[Tensor, "any tokens"]:
    return logs.double().cpu().cumsum(-1)


def _decayed(
    total: Float[Tensor, "heads tokens"],
    own: Float[Tensor, "heads tokens"] | None,
    queries: slice,
    keys: slice,
    like: Tensor,
    largest: Float[Tensor, "heads queries"] | None = None,
) -> Float[Tensor, "heads queries keys"]:
    """``exp(total_t − total_j)``, 0 if j is later than t; ``own`` is added for the keys, ``largest`` subtracted."""
    logs = total[:, queries, None] - total[:, None, keys]
    if own is not None and largest is not None:
        logs = own[:, None, keys] - total[:, None, keys] - largest[..., None]
    return logs.masked_fill_(~_seen(queries, keys, logs.device), -torch.inf).exp().to(like)


def _seen(queries: slice, keys: slice, device: torch.device) -> Tensor:
    rows, columns = (torch.arange(one.start, one.stop, device=device) for one in (queries, keys))
    return columns <= rows[:, None]
