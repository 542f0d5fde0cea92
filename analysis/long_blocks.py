"""Every head of a long text, a block of query rows at a time: thumbnails, and what each query does with its attention.

A block is small whatever the text's length, so that progress can be shown between two of them and memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn.functional import pad

from analysis.mask_effect import looks_ahead
from analysis.pooling import even_bins, pool
from attention import metrics, softmax
from model_runner.capture import ROWS, Capture

RECENT = 64  # tokens: the query itself and those just before it
PLACES = 32  # parts of what a query sees, from its first to its last key
THUMBNAIL = 48  # pixels on a side
CELLS = 2**23  # of a block: heads × queries × keys

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class BlockRows:
    """Queries ``start`` to ``stop`` (exclusive) of a layer."""

    layer: int
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class MapBlock:
    """What the heads of a layer do in some rows, one number a head and query, NaN where it is not defined.

    ``first``, ``recent``: shares of attention on the first token and on the last ``RECENT`` ones without it.
    ``entropy`` in bits. ``distance``: tokens from the query to where the rest of its attention is, the first token left
    out. ``places``: the shares of each part of what a query sees, summed over the ``placed`` queries that see enough.
    ``thumbnail``: 255 × the largest weight under each pixel, of rows ``top`` on.
    """

    rows: BlockRows
    first: Float[np.ndarray, "heads queries"]
    recent: Float[np.ndarray, "heads queries"]
    entropy: Float[np.ndarray, "heads queries"]
    distance: Float[np.ndarray, "heads queries"]
    places: Float[np.ndarray, "heads places"]
    placed: int
    thumbnail: UInt8[np.ndarray, "heads pixel_rows side"]
    top: int


def blocks_of(capture: Capture) -> tuple[BlockRows, ...]:
    """All rows of all layers with softmax attention, in order."""
    return tuple(_blocks(capture))


def _blocks(capture: Capture) -> Iterator[BlockRows]:
    n_tokens = len(capture.tokens)
    for layer in range(capture.n_layers):
        if capture.has_weights(layer):
            size = max(1, min(ROWS, CELLS // (capture.record(layer).q.shape[0] * n_tokens)))
            for start in range(0, n_tokens, size):
                yield BlockRows(layer, start, min(start + size, n_tokens))


def block(capture: Capture, rows: BlockRows) -> MapBlock:
    """One pass over these rows; O(heads × rows × keys) memory."""
    record, n_tokens, ahead = capture.record(rows.layer), len(capture.tokens), looks_ahead(capture)
    keys = slice(0, n_tokens if ahead else rows.stop)
    heads, queries = slice(0, record.q.shape[0]), slice(rows.start, rows.stop)
    if record.without_softmax:
        weights = record.weights(heads, queries, keys, ROWS, shares=True)
    else:  # whose denominators are all in these keys
        scores = record.scores(heads, queries, keys)
        weights = softmax.weights(scores, softmax.log_sum_exp(scores, record.sinks_at(heads, queries)))
    q_idx = torch.arange(rows.start, rows.stop, device=weights.device)
    shown = metrics.Rows(weights, q_idx, torch.zeros(keys.stop, dtype=torch.long, device=weights.device))
    first, entropy = metrics.first_token(shown), metrics.entropy(shown)  # which ask for no token's id
    before = pad(weights.cumsum(-1), (1, 0))  # of each key, the sum of those before it
    places, placed = _places(before, q_idx, n_tokens if ahead else None)
    weights[..., 0] = 0.0  # the first token stands apart
    thumbnail, top = _thumbnail(weights, rows, n_tokens)
    return MapBlock(
        rows,
        first=_numbers(first),
        recent=_numbers(_recent(before, q_idx, ahead)),
        entropy=_numbers(entropy),
        distance=_numbers(_distance(weights, q_idx)),
        places=_numbers(places),
        placed=placed,
        thumbnail=thumbnail,
        top=top,
    )


def _recent(before: Float[Tensor, "heads queries edges"], q_idx: Tensor, ahead: bool) -> Float[Tensor, "heads queries"]:
    """On the last RECENT tokens, in a model that looks both ways on those before and after; the first token apart."""
    last = before.shape[-1] - 1
    start = (q_idx - RECENT + 1).clamp(min=1, max=last)
    end = (q_idx + (RECENT if ahead else 1)).clamp(max=last)
    share = _at(before, end[:, None])[..., 0] - _at(before, start[:, None])[..., 0]
    return share.clamp_(min=0.0).masked_fill(q_idx == 0, torch.nan)


def _distance(weights: Float[Tensor, "heads queries keys"], q_idx: Tensor) -> Float[Tensor, "heads queries"]:
    """Mean distance of the attention that is not on the first token; NaN where there is none."""
    apart = (q_idx[:, None] - torch.arange(weights.shape[-1], device=weights.device)).abs().to(weights.dtype)
    return torch.einsum("hqk,qk->hq", weights, apart) / weights.sum(-1)


def _places(
    before: Float[Tensor, "heads queries edges"], q_idx: Tensor, sees: int | None
) -> tuple[Float[Tensor, "heads places"], int]:
    """Shares of ``PLACES`` equal parts of what each query sees, ``sees`` keys or all up to itself, summed over those
    that see a key or more for every part; and how many these are.
    """
    seen = torch.full_like(q_idx, sees) if sees is not None else q_idx + 1
    chosen = seen >= PLACES
    parts = torch.arange(PLACES + 1, device=q_idx.device)
    edges = -(-parts * seen[chosen, None] // PLACES)  # rounded up
    shares = _at(before[:, chosen], edges).diff(dim=-1)
    return shares.sum(1), int(chosen.sum())


def _at(before: Float[Tensor, "heads queries edges"], places: Tensor) -> Tensor:
    return before.gather(2, places.expand(len(before), -1, -1))


def _thumbnail(
    weights: Tensor, rows: BlockRows, n_tokens: int
) -> tuple[UInt8[np.ndarray, "heads pixel_rows side"], int]:
    """The largest weight under each pixel of these rows; a pixel row may go on in the next block."""
    pixels = even_bins(n_tokens, side_of(n_tokens))
    columns = _inside(pixels, 0, weights.shape[-1])
    lines = _inside(pixels, rows.start, rows.stop)
    narrow = pad(pool(weights, 2, columns, "max"), (0, len(pixels) - len(columns)))
    found = pool(narrow, 1, lines, "max")
    top = next(number for number, part in enumerate(pixels) if part.stop > rows.start)
    return (found * 255).round().to(torch.uint8).cpu().numpy(), top


def _inside(pixels: list[slice], start: int, stop: int) -> list[slice]:
    """The pixels' parts from ``start`` to ``stop``, counted from there."""
    parts = (slice(max(part.start, start) - start, min(part.stop, stop) - start) for part in pixels)
    return [part for part in parts if part.start < part.stop]


def side_of(n_tokens: int) -> int:
    """Pixels of a thumbnail."""
    return min(n_tokens, THUMBNAIL)


def _numbers(values: Tensor) -> np.ndarray:
    return values.double().cpu().numpy()


@dataclass(frozen=True, eq=False)
class LongHeads:
    """What is known of every head so far; NaN, or an empty picture, where nothing is.

    ``measures`` are means over the queries that were seen, by the names of :data:`MEASURES`; ``places`` are mean
    shares. ``entropy_at`` is the mean entropy of queries in each of ``positions`` (first query of each bin).
    """

    thumbnails: UInt8[np.ndarray, "layers heads side side"]
    keep: UInt8[np.ndarray, "layers side side"]
    measures: dict[str, Float[np.ndarray, "layers heads"]]
    places: Float[np.ndarray, "layers heads places"]
    positions: np.ndarray
    entropy_at: Float[np.ndarray, "layers heads bins"]


@dataclass(frozen=True)
class Measure:
    """One number of a head; ``unit`` as of :class:`attention.metrics.Metric`."""

    name: str
    label: str
    definition: str
    unit: str


MEASURES = (
    Measure("first", N_("first token (sink)"), N_("share of attention parked on the first token"), "share"),
    Measure("recent", N_("recent"), N_("share of attention on the last 64 tokens, the first token left out"), "share"),
    Measure("distance", N_("effective distance"),
            N_("how many tokens away the rest is on average, the first token left out"), "tokens"),
    Measure("entropy", N_("entropy"),
            N_("how widely a token spreads its attention: 0 bits is one token, more is many"), "bits"),
)  # fmt: skip  # one measure a paragraph
NEAR = Measure("recent", N_("near"),
               N_("share of attention on tokens less than 64 away, before or after, the first token left out"),
               "share")  # fmt: skip  # of a model that looks both ways
BINS = 32  # of positions


def measures_of(capture: Capture) -> tuple[Measure, ...]:
    """What each number is of this model: one that looks both ways has no last tokens, but near ones."""
    ahead = looks_ahead(capture)
    return tuple(NEAR if ahead and one.name == NEAR.name else one for one in MEASURES)


def long_heads(capture: Capture, blocks: Sequence[MapBlock]) -> LongHeads:
    """The blocks that there are, put together."""
    n_tokens, shape = len(capture.tokens), (capture.n_layers, capture.n_heads)
    side, n_bins = side_of(n_tokens), min(BINS, n_tokens)
    thumbnails = np.zeros((*shape, side, side), np.uint8)
    values = {one.name: np.full((*shape, n_tokens), np.nan) for one in MEASURES}
    places, placed = np.zeros((*shape, PLACES)), np.zeros(shape[0])
    for one in blocks:
        layer, heads, queries = one.rows.layer, slice(0, len(one.first)), slice(one.rows.start, one.rows.stop)
        under = thumbnails[layer, heads, one.top : one.top + one.thumbnail.shape[1]]
        np.maximum(under, one.thumbnail, out=under)
        for name, held in values.items():
            held[layer, heads, queries] = getattr(one, name)
        places[layer, heads] += one.places
        placed[layer] += one.placed
    rows, columns = np.arange(side)[:, None], np.arange(side)
    seen = (rows >= columns) | looks_ahead(capture)
    edges = np.arange(n_bins) * n_tokens // n_bins
    return LongHeads(
        thumbnails,
        keep=np.repeat(seen[None].astype(np.uint8), shape[0], axis=0),
        measures={name: _mean(held) for name, held in values.items()},
        places=np.where(placed[:, None, None] > 0, places / np.maximum(placed, 1)[:, None, None], np.nan),
        positions=edges,
        entropy_at=np.stack([_mean(part) for part in np.split(values["entropy"], edges[1:], axis=-1)], axis=-1),
    )


def _mean(values: np.ndarray) -> np.ndarray:
    """Over the last axis, of what is defined; NaN where nothing is."""
    known = ~np.isnan(values)
    return np.where(known.any(-1), np.where(known, values, 0.0).sum(-1) / np.maximum(known.sum(-1), 1), np.nan)
