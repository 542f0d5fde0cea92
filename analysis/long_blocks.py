"""Every head of a long text, a block of query rows at a time: thumbnails, and what each query does with its attention.

A block is small whatever the text's length, so that progress can be shown between two of them and memory stays bounded.
Of a capture whose tensors are elsewhere a block has more rows, and is made there: its sums and pixels are sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn.functional import pad

from analysis.made_there import far_maker
from analysis.mask_effect import looks_ahead
from analysis.pooling import even_bins, pool
from attention import metrics, softmax
from model_runner.capture import ROWS, Capture
from model_runner.errors import NoSuchPlace

RECENT = 64  # tokens: the query itself and those just before it
PLACES = 32  # parts of what a query sees, from its first to its last key
THUMBNAIL = 48  # pixels on a side
CELLS = 2**23  # heads × queries × keys that are computed at once
CELLS_AWAY = 2**27  # of a block that is made elsewhere: it is one question
BINS = 32  # of positions

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class BlockRows:
    """Queries ``start`` to ``stop`` (exclusive) of a layer."""

    layer: int
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class MapBlock:
    """What the heads of a layer do in some rows.

    ``totals``: each of :data:`MEASURES`, summed over those queries of a bin of positions for which it is defined, of
    which there are ``counts``; from bin ``first_bin`` on. ``places``: the shares of each part of what a query sees,
    summed over the ``placed`` queries that see enough. ``thumbnail``: 255 × the largest weight under each pixel, of
    rows ``top`` on.
    """

    rows: BlockRows
    totals: Float[np.ndarray, "measures heads bins"]
    counts: Float[np.ndarray, "measures heads bins"]
    first_bin: int
    places: Float[np.ndarray, "heads places"]
    placed: int
    thumbnail: UInt8[np.ndarray, "heads pixel_rows side"]
    top: int


def blocks_of(capture: Capture) -> tuple[BlockRows, ...]:
    """All rows of all layers with softmax attention, in order."""
    return tuple(_blocks(capture))


def _blocks(capture: Capture) -> Iterator[BlockRows]:
    n_tokens, here = len(capture.tokens), far_maker(capture) is None
    for layer in range(capture.n_layers):
        if capture.has_weights(layer):
            cells = capture.record(layer).q.shape[0] * n_tokens  # of a row
            size = min(ROWS, CELLS // cells) if here else CELLS_AWAY // cells
            yield from _cut(BlockRows(layer, 0, n_tokens), max(1, size))


def _cut(rows: BlockRows, size: int) -> Iterator[BlockRows]:
    for start in range(rows.start, rows.stop, size):
        yield BlockRows(rows.layer, start, min(start + size, rows.stop))


def block(capture: Capture, rows: BlockRows) -> MapBlock:
    """What these rows say, made where the tensors are. Raises NoSuchPlace, NoWeights."""
    maker = far_maker(capture)
    if maker is None:
        return block_of(capture, rows)
    return _read(rows, maker.block(capture.request, rows.layer, rows.start, rows.stop))


def written(made: MapBlock) -> dict[str, Any]:
    """The block as values that :mod:`model_runner.wire` writes."""
    return {
        "totals": torch.from_numpy(made.totals),
        "counts": torch.from_numpy(made.counts),
        "first_bin": made.first_bin,
        "places": torch.from_numpy(made.places),
        "placed": made.placed,
        "thumbnail": torch.from_numpy(made.thumbnail),
        "top": made.top,
    }


def _read(rows: BlockRows, told: dict[str, Any]) -> MapBlock:
    parts: dict[str, Any] = {name: one.numpy() if isinstance(one, Tensor) else one for name, one in told.items()}
    return MapBlock(rows, **parts)


def block_of(capture: Capture, rows: BlockRows) -> MapBlock:
    """The block, made here; O(``CELLS``) memory. Raises NoSuchPlace, NoWeights."""
    n_tokens = len(capture.tokens)
    if not 0 <= rows.start < rows.stop <= n_tokens:
        raise NoSuchPlace(what="position", value=rows.stop, count=n_tokens)
    size = min(ROWS, CELLS // (capture.record(rows.layer).q.shape[0] * n_tokens))
    return _joined(rows, [_pass(capture, one) for one in _cut(rows, max(1, size))])


def _joined(rows: BlockRows, parts: list[MapBlock]) -> MapBlock:
    """Blocks that follow each other, as one."""
    if len(parts) == 1:
        return parts[0]
    first_bin, top = parts[0].first_bin, parts[0].top
    shape = parts[0].totals.shape[:2]
    totals = np.zeros((*shape, parts[-1].first_bin + parts[-1].totals.shape[-1] - first_bin))
    counts = np.zeros_like(totals)
    heads, _, side = parts[0].thumbnail.shape
    thumbnail = np.zeros((heads, parts[-1].top + parts[-1].thumbnail.shape[1] - top, side), np.uint8)
    for one in parts:
        _add(one, totals, counts, thumbnail, first_bin, top)
    places, placed = np.sum([one.places for one in parts], axis=0), sum(one.placed for one in parts)
    return MapBlock(rows, totals, counts, first_bin, places, placed, thumbnail, top)


def _add(
    one: MapBlock, totals: np.ndarray, counts: np.ndarray, thumbnail: np.ndarray, first_bin: int = 0, top: int = 0
) -> None:
    """Into sums and a picture of the same heads that begin at ``first_bin`` and ``top``."""
    bins = slice(one.first_bin - first_bin, one.first_bin - first_bin + one.totals.shape[-1])
    totals[..., bins] += one.totals
    counts[..., bins] += one.counts
    under = thumbnail[:, one.top - top : one.top - top + one.thumbnail.shape[1]]
    np.maximum(under, one.thumbnail, out=under)


def _pass(capture: Capture, rows: BlockRows) -> MapBlock:
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
    weights[..., 0] = 0.0  # the first token is shown apart
    thumbnail, top = _thumbnail(weights, rows, n_tokens)
    by_name = {"first": first, "recent": _recent(before, q_idx, ahead), "distance": _distance(weights, q_idx)}
    values = np.stack([_numbers((by_name | {"entropy": entropy})[one.name]) for one in MEASURES])
    first_bin, inside = _bins_of(rows, n_tokens)
    known = ~np.isnan(values)
    return MapBlock(
        rows,
        totals=np.add.reduceat(np.where(known, values, 0.0), inside, axis=-1),
        counts=np.add.reduceat(known.astype(np.float64), inside, axis=-1),
        first_bin=first_bin,
        places=_numbers(places),
        placed=placed,
        thumbnail=thumbnail,
        top=top,
    )


def _edges(n_tokens: int) -> np.ndarray:
    """The first position of each bin."""
    n_bins = min(BINS, n_tokens)
    return np.arange(n_bins) * n_tokens // n_bins


def _bins_of(rows: BlockRows, n_tokens: int) -> tuple[int, np.ndarray]:
    """The first bin that these rows lie in, and where each of theirs begins, counted from the first row."""
    edges = _edges(n_tokens)
    first = int(np.searchsorted(edges, rows.start, "right")) - 1
    inside = edges[first : int(np.searchsorted(edges, rows.stop, "left"))]
    return first, np.maximum(inside - rows.start, 0)


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


def measures_of(capture: Capture) -> tuple[Measure, ...]:
    """What each number is of this model: one that looks both ways has no last tokens, but near ones."""
    ahead = looks_ahead(capture)
    return tuple(NEAR if ahead and one.name == NEAR.name else one for one in MEASURES)


def long_heads(capture: Capture, blocks: Sequence[MapBlock]) -> LongHeads:
    """The blocks that there are, put together."""
    n_tokens, shape = len(capture.tokens), (capture.n_layers, capture.n_heads)
    side, edges = side_of(n_tokens), _edges(n_tokens)
    thumbnails = np.zeros((*shape, side, side), np.uint8)
    totals = np.zeros((len(MEASURES), *shape, len(edges)))
    counts = np.zeros_like(totals)
    places, placed = np.zeros((*shape, PLACES)), np.zeros(shape[0])
    for one in blocks:
        layer, heads = one.rows.layer, slice(0, len(one.places))
        _add(one, totals[:, layer, heads], counts[:, layer, heads], thumbnails[layer, heads])
        places[layer, heads] += one.places
        placed[layer] += one.placed
    rows, columns = np.arange(side)[:, None], np.arange(side)
    seen = (rows >= columns) | looks_ahead(capture)
    names = [one.name for one in MEASURES]
    means, by_bin = _mean(totals.sum(-1), counts.sum(-1)), _mean(totals, counts)
    return LongHeads(
        thumbnails,
        keep=np.repeat(seen[None].astype(np.uint8), shape[0], axis=0),
        measures=dict(zip(names, means, strict=True)),
        places=np.where(placed[:, None, None] > 0, places / np.maximum(placed, 1)[:, None, None], np.nan),
        positions=edges,
        entropy_at=by_bin[names.index("entropy")],
    )


def _mean(totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Of what is defined; NaN where nothing is."""
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)
