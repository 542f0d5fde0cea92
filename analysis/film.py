"""A generated text frame by frame: how each token was chosen, its attention, and the cache that it was added to.

A causal model's capture of the whole text covers every earlier moment: row p of a head is the attention of token p when
it was the newest, and the logits at p − 1 are those from which it was drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from analysis.joined import Joined
from model_runner.capture import ROWS, Capture
from model_runner.record import LayerRecord
from model_runner.sampling import Stage

Chosen = Literal["sampled", "greedy", "forced", "beam"]
How = Literal["prompt"] | Chosen

CANDIDATES = 12  # tokens listed in a frame, plus the chosen one if it is not among them
COLUMNS = 160  # in a longer text several tokens share a column
CACHE_ROWS = 128  # rows in the picture of keys and values; several dimensions share one if there are more
STRIP_LEVELS = 254  # levels of a weight in the strip
STRIP_MASKED = 255


@dataclass(frozen=True)
class Candidate:
    """``probability`` is the model's own, ``final`` the one used for sampling: 0 if the settings removed the token."""

    id: int
    probability: float
    final: float
    kept: bool


@dataclass(frozen=True)
class TokenChoice:
    """How one token was chosen; ``token`` None is the state after the prompt, before anything is chosen.

    Two distributions are kept apart: ``log_probability``, ``rank`` and ``entropy`` (bits) are the model's own;
    ``final``, ``final_rank``, ``final_entropy`` and ``final_rest`` are those after the settings, from which the token
    was drawn; they are equal unless ``changed``. Ranks count from 1; ties share the better rank. ``candidates`` are in
    decreasing order of the model's probability, ``final_rest`` is that of all others. ``n_kept`` tokens survive the
    settings; ``kept_mass`` is their total model probability. ``uniform`` is the random number of the draw, ``seconds``
    the step's duration.
    """

    token: int | None
    how: How
    candidates: tuple[Candidate, ...]
    changed: bool
    entropy: float
    final_entropy: float
    final_rest: float
    n_kept: int
    kept_mass: float
    log_probability: float | None = None
    rank: int | None = None
    final: float | None = None
    final_rank: int | None = None
    uniform: float | None = None
    seconds: float | None = None

    @property
    def probability(self) -> float | None:
        return None if self.log_probability is None else math.exp(self.log_probability)


def choice(
    stages: Sequence[Stage],
    token: int | None,
    how: How,
    *,
    uniform: float | None = None,
    seconds: float | None = None,
) -> TokenChoice:
    """The token among its candidates; ``stages`` are those of the preceding logits, the model's own first."""
    first, last = stages[0], stages[-1]
    logits = first.exact
    log_probabilities = torch.log_softmax(logits, dim=-1)
    probabilities = log_probabilities.exp()
    kept, finals = last.keep, last.probabilities
    listed = probabilities.topk(min(CANDIDATES, len(probabilities))).indices.tolist()
    if token is not None and token not in listed:
        listed.append(token)
    candidates = tuple(Candidate(one, float(probabilities[one]), float(finals[one]), bool(kept[one])) for one in listed)
    # subtracting from 1 leaves rounding errors: no probability is smaller than that of an existing token
    all_listed = last.kept == sum(one.kept for one in candidates)
    return TokenChoice(
        token=token,
        how=how,
        candidates=candidates,
        changed=not torch.equal(first.exact, last.exact),
        entropy=first.entropy,
        final_entropy=last.entropy,
        final_rest=0.0 if all_listed else max(0.0, 1.0 - math.fsum(one.final for one in candidates)),
        n_kept=last.kept,
        kept_mass=min(1.0, float(probabilities[kept].sum())),
        log_probability=None if token is None else float(log_probabilities[token]),
        rank=None if token is None else 1 + int((logits > logits[token]).sum()),
        final=None if token is None else float(finals[token]),
        final_rank=None if token is None else 1 + int((last.exact > last.exact[token]).sum()),
        uniform=uniform,
        seconds=seconds,
    )


# -- attention --------------------------------------------------------------------------------------------------------


def bin_of(n_tokens: int) -> int:
    """How many tokens share a column in a picture of this many tokens."""
    return max(1, math.ceil(n_tokens / COLUMNS))


def rows_of_strip(capture: Capture, layer: int) -> tuple[tuple[int, int | None], ...]:
    """(layer, head) of each row of the strip: one row per layer, without a head, and one per head of the open layer."""
    rows: list[tuple[int, int | None]] = []
    for one in range(capture.n_layers):
        if capture.has_weights(one):
            rows += [(one, head) for head in range(capture.q(one).shape[0])] if one == layer else [(one, None)]
    return tuple(rows)


def attention_rows(capture: Capture, layer: int, head: int, *, first: int) -> list[Float[np.ndarray, "keys"]]:
    """The head's row for every token from position ``first`` on, each ending at that token; NaN where masked."""
    queries = slice(first, len(capture.tokens))
    weights = _weights(capture.record(layer), slice(head, head + 1), queries)
    return [weights[0, i, : first + i + 1] for i in range(weights.shape[1])]


def largest(
    row: Float[np.ndarray, "keys"], bin: int
) -> tuple[Float[np.ndarray, "columns"], Int[np.ndarray, "columns"]]:
    """The largest weight of each ``bin`` keys, NaN if all are masked, and the first key that has it."""
    starts = np.arange(0, len(row), bin)
    known = np.pad(np.nan_to_num(row, nan=-1.0), (0, len(starts) * bin - len(row)), constant_values=-1.0)
    return _pooled(row, bin), starts + known.reshape(len(starts), bin).argmax(axis=1)


def strips(
    capture: Capture, rows: Sequence[tuple[int, int | None]], *, first: int, bin: int
) -> list[UInt8[np.ndarray, "rows columns"]]:
    """These rows for every token from ``first`` on, 0..254 for 0..1; 255 is masked.

    A row without a head has the maximum over its layer's heads for each key.
    """
    queries = slice(first, len(capture.tokens))
    n_new = queries.stop - first
    parts: list[list[np.ndarray]] = [[] for _ in range(n_new)]
    for layer in dict.fromkeys(layer for layer, _head in rows):
        record = capture.record(layer)
        wanted = [head for one, head in rows if one == layer]
        weights = _weights(record, slice(0, record.q.shape[0]), queries)
        largest_of_all = np.fmax.reduce(weights, axis=0)
        chosen = np.stack([largest_of_all if head is None else weights[head] for head in wanted])
        for i in range(n_new):
            parts[i].append(_levels(_pooled(chosen[:, i, : first + i + 1], bin)))
    return [np.concatenate(part, axis=0) for part in parts]


def _weights(record: LayerRecord, heads: slice, queries: slice) -> Float[np.ndarray, "heads queries keys"]:
    """Weights over every key, NaN where masked."""
    keys = slice(0, record.k.shape[1])
    found = record.weights(heads, queries, keys, ROWS, shares=True).float()
    return found.masked_fill(~record.mask.tile(queries, keys, record.q.device), torch.nan).cpu().numpy()


def _pooled(row: Float[np.ndarray, "*heads keys"], bin: int) -> Float[np.ndarray, "*heads columns"]:
    """The maximum of each bin along the last axis; NaN only if all are."""
    if bin == 1:
        return row
    starts = np.arange(0, row.shape[-1], bin)
    return np.fmax.reduceat(row, starts, axis=-1)


def _levels(rows: Float[np.ndarray, "heads columns"]) -> UInt8[np.ndarray, "heads columns"]:
    levels = np.rint(np.nan_to_num(rows) * STRIP_LEVELS)
    return np.where(np.isnan(rows), STRIP_MASKED, np.clip(levels, 0, STRIP_LEVELS)).astype(np.uint8)


# -- the cache --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CacheColumns:
    """Keys and values of one head, one row per column of the picture, from column ``first`` on."""

    first: int
    pooled: int  # dimensions per number
    k: Float[np.ndarray, "columns d"]
    v: Float[np.ndarray, "columns d"]


def cache_columns(capture: Capture, layer: int, head: int, *, first: int, bin: int) -> CacheColumns:
    """The head's cache for the tokens from position ``first`` on, in whole columns.

    An encoder-decoder has two caches: the source's, which stays, and the target's. If several tokens share a column, or
    several dimensions a number, the value of largest magnitude is used.
    """
    record = capture.record(layer)
    kv_head, column = head // record.group, first // bin
    tensors = [tensor[kv_head, column * bin :] for tensor in _cached(capture, layer, record)]
    pooled = math.ceil(max(tensor.shape[1] for tensor in tensors) / CACHE_ROWS)
    k, v = (_largest(_largest(_array(tensor), bin, axis=0), pooled, axis=1) for tensor in tensors)
    return CacheColumns(column, pooled, k, v)


def _cached(capture: Capture, layer: int, record: LayerRecord) -> tuple[Tensor, Tensor]:
    """Cached keys and values: for two texts those of cross-attention, then the target's own."""
    if not isinstance(capture, Joined) or capture.cross is None:
        return record.k, record.v
    across, own = capture.cross.record(layer), capture.attention("decoder").record(layer)
    return torch.cat([across.k, own.k], dim=1), torch.cat([across.v, own.v], dim=1)


def _array(tensor: Tensor) -> Float[np.ndarray, "tokens d"]:
    return tensor.float().cpu().numpy()


def _largest(values: Float[np.ndarray, "rows columns"], bin: int, *, axis: int) -> Float[np.ndarray, "rows2 columns2"]:
    """The number of largest magnitude in each bin along an axis, with its sign."""
    if bin == 1:
        return values
    starts = np.arange(0, values.shape[axis], bin)
    high, low = (reduce.reduceat(values, starts, axis=axis) for reduce in (np.maximum, np.minimum))
    return np.where(high >= -low, high, low)
