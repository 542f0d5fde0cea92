"""Every head of every layer: a thumbnail each and one number per metric, in one pass over the weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from analysis.joined import first_query, n_looked_at
from analysis.made_there import far_maker
from analysis.pooling import even_bins, pool
from attention.metrics import METRICS, Metric, Rows
from attention.own_metrics import all_metrics
from model_runner.capture import ROWS, Capture

LARGEST_THUMBNAIL = 48  # px per side
THUMBNAIL_BYTES = 600_000  # of all thumbnails together: what is transferred


@dataclass(frozen=True, eq=False)
class HeadGrid:
    """Thumbnails hold 255 × the largest weight under each pixel; metrics are means over queries, NaN if undefined.

    Maps with negative weights, which softmax substitutes may have, count by normalized magnitude. For two combined
    texts a thumbnail has one text's queries as rows and the other's keys as columns.
    """

    thumbnails: UInt8[np.ndarray, "layers heads side side"]
    keep: UInt8[np.ndarray, "layers side side"]  # 1 if any cell under the pixel is visible
    metrics: dict[str, Float[np.ndarray, "layers heads"]]
    has_weights: tuple[bool, ...]
    # 1 if none is, because an indexer selected other keys
    left_out: UInt8[np.ndarray, "layers side side"] | None = None

    def __repr__(self) -> str:
        """One line: the number of heads, and the metrics."""
        layers, heads = self.thumbnails.shape[:2]
        return f"<HeadGrid: {layers} layers, {heads} heads; metrics: {', '.join(self.metrics)}>"

    def ranking(self, metric: str) -> list[int]:
        """Heads (layer × n_heads + head) by decreasing metric, undefined ones last."""
        values = self.metrics[metric].ravel()
        return np.argsort(np.where(np.isnan(values), np.inf, -values), kind="stable").tolist()


def head_grid(capture: Capture) -> HeadGrid:
    """The grid, computed where the tensors are, as it has a hundredth of their bytes.

    User-defined metrics are computed here.
    """
    maker, own = far_maker(capture), len(all_metrics()) > len(METRICS)
    return grid_of(capture) if maker is None or own else _read(maker.grid(capture.request))


def written(grid: HeadGrid) -> dict[str, Any]:
    """The grid as values for :mod:`model_runner.wire`; its metrics are those of ``METRICS``."""
    names = [metric.name for metric in METRICS]
    return {
        "thumbnails": torch.from_numpy(grid.thumbnails),
        "keep": torch.from_numpy(grid.keep),
        "left_out": None if grid.left_out is None else torch.from_numpy(grid.left_out),
        "metrics": torch.from_numpy(np.stack([grid.metrics[name] for name in names])),
        "names": names,
        "has_weights": list(grid.has_weights),
    }


def _read(told: dict[str, Any]) -> HeadGrid:
    left_out = told["left_out"]
    return HeadGrid(
        told["thumbnails"].numpy(),
        told["keep"].numpy(),
        dict(zip(told["names"], told["metrics"].numpy())),
        tuple(told["has_weights"]),
        None if left_out is None else left_out.numpy(),
    )


def grid_of(capture: Capture) -> HeadGrid:
    """The grid, computed in this process. O(layers × heads × tokens²) time, O(heads × rows × tokens) memory."""
    largest = max(len(capture.tokens) - first_query(capture), n_looked_at(capture))
    shape = (capture.n_layers, capture.n_heads)
    side = min(largest, LARGEST_THUMBNAIL, max(8, int((THUMBNAIL_BYTES / (shape[0] * shape[1])) ** 0.5)))
    thumbnails = np.zeros((*shape, side, side), np.uint8)
    keep = np.zeros((shape[0], side, side), np.uint8)
    left_out = np.zeros_like(keep)
    wanted = all_metrics()
    metrics = {metric.name: np.full(shape, np.nan, np.float32) for metric in wanted}
    for layer in range(capture.n_layers):
        if not capture.has_weights(layer):
            continue
        pooled, visible, left, means = _layer(capture, layer, side, wanted)
        heads = len(pooled)
        thumbnails[layer, :heads], keep[layer], left_out[layer] = pooled, visible, left
        for name, values in means.items():
            metrics[name][layer, :heads] = values
    has_weights = tuple(capture.has_weights(layer) for layer in range(shape[0]))
    return HeadGrid(thumbnails, keep, metrics, has_weights, left_out if left_out.any() else None)


def _layer(
    capture: Capture, layer: int, side: int, wanted: tuple[Metric, ...]
) -> tuple[
    UInt8[np.ndarray, "heads side side"],
    UInt8[np.ndarray, "side side"],
    UInt8[np.ndarray, "side side"],
    dict[str, np.ndarray],
]:
    record, n_tokens = capture.record(layer), len(capture.tokens)
    device, n_heads = record.q.device, record.q.shape[0]
    token_ids = torch.tensor([token.id for token in capture.tokens], device=device)
    first, last_key = first_query(capture), n_looked_at(capture)
    pixels = [slice(part.start + first, part.stop + first) for part in even_bins(n_tokens - first, side)]
    columns = even_bins(last_key, side)
    bands: list[Tensor] = []
    seen: list[Tensor] = []
    choosable: list[Tensor] = []
    before = record.mask.before_choice
    sums = {metric.name: torch.zeros(n_heads, device=device) for metric in wanted}
    counts = {metric.name: torch.zeros(n_heads, device=device) for metric in wanted}
    candidates: dict[str, Tensor] = {}
    metrics = [metric for metric in wanted if metric.across or not first]
    for block in _blocks(pixels):
        rows = slice(block[0].start, block[-1].stop)
        weights = capture.layer_weights(layer, rows, shares=True)
        inside = [slice(part.start - rows.start, part.stop - rows.start) for part in block]
        bands.append(pool(pool(weights, 1, inside, "max"), 2, columns, "max"))
        visible = record.mask.tile(rows, slice(0, n_tokens), device).to(torch.uint8)
        seen.append(pool(pool(visible, 0, inside, "max"), 1, columns, "max"))
        if before is not record.mask:
            could = before.tile(rows, slice(0, n_tokens), device).to(torch.uint8)
            choosable.append(pool(pool(could, 0, inside, "max"), 1, columns, "max"))
        q_idx = torch.arange(rows.start, rows.stop, device=device)
        block_rows = Rows(weights, q_idx, token_ids, chosen=q_idx.new_zeros(n_heads))
        for metric in metrics:
            values = metric.of(block_rows)
            if metric.candidates is not None:
                candidates[metric.name] = candidates.get(metric.name, 0) + metric.candidates(block_rows)
            sums[metric.name] += values.nansum(-1)
            counts[metric.name] += (~values.isnan()).sum(-1)
    for name, totals in candidates.items():  # the choice among candidates needs all blocks
        sums[name] = totals.amax(-1)
    thumbnails = _stretched((torch.cat(bands, 1) * 255).round().to(torch.uint8), side)
    means = {name: (sums[name] / counts[name]).cpu().numpy() for name in sums}
    keep = _stretched(torch.cat(seen), side).cpu().numpy()
    could = _stretched(torch.cat(choosable), side).cpu().numpy() if choosable else keep
    return thumbnails.cpu().numpy(), keep, could & ~keep & 1, means


def _stretched(picture: UInt8[Tensor, "*heads rows columns"], side: int) -> UInt8[Tensor, "*heads side side"]:
    """A rectangle with at most this many pixels per side as a square, for two texts of different lengths."""
    for axis in (-2, -1):
        count = picture.shape[axis]
        if count != side:
            picture = picture.index_select(axis, torch.arange(side, device=picture.device) * count // side)
    return picture


def _blocks(pixels: list[slice]) -> Iterator[list[slice]]:
    """Runs of whole pixel rows of about ROWS query rows each."""
    height = max(part.stop - part.start for part in pixels)
    size = max(1, ROWS // height)
    for first in range(0, len(pixels), size):
        yield pixels[first : first + size]
