"""A head's map at any length as tiles of 256 × 256 pixels, each computed from the exact weights of its cells.

Zoom 0 shows the whole text in one tile; with each further zoom a pixel stands for half as many tokens per side, down to
a single cell. Nothing of size tokens × tokens is stored: a tile is computed from blocks of rows, or from the four tiles
below it.

The first token is separate. Many heads put nearly all of their attention on it, and a pooled pixel with its column
would show only that; so pooled pixels leave it out, and every tile has its column separately.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from model_runner.capture import ROWS
from model_runner.errors import N_, NoSuchPlace
from model_runner.record import LayerRecord

Denominators: TypeAlias = Float[Tensor, "queries"]

SIDE = 256  # px of a tile
NAMES = ("max", "mean", "first_max", "first_mean")  # contents of a packed tile, in order
FLOAT16 = 2  # bytes
QUICK = 1  # of zlib: three milliseconds per tile, and the best level is only a twentieth smaller
# cells per side of the largest pixel that is computed from cells; larger ones are computed from the tiles below
DIRECT = 8


@dataclass(frozen=True)
class Spot:
    """Tile number ``x`` from the left (keys) and ``y`` from the top (queries)."""

    zoom: int
    x: int
    y: int

    @property
    def below(self) -> tuple[Spot, Spot, Spot, Spot]:
        """The four tiles of the same area at the next zoom: upper left, upper right, lower left, lower right."""
        zoom, x, y = self.zoom + 1, 2 * self.x, 2 * self.y
        return Spot(zoom, x, y), Spot(zoom, x + 1, y), Spot(zoom, x, y + 1), Spot(zoom, x + 1, y + 1)


@dataclass(frozen=True)
class Tiling:
    """The tiling of a map with this many ``tokens`` per side."""

    tokens: int

    @property
    def last(self) -> int:
        """The zoom at which a pixel is a cell."""
        return max(0, math.ceil(math.log2(self.tokens / SIDE)))

    def cells(self, zoom: int) -> int:
        """Cells per side of a pixel."""
        return 2 ** (self.last - zoom)

    def tiles(self, zoom: int) -> int:
        """Tiles per side that contain any of the text."""
        return -(-self.tokens // (SIDE * self.cells(zoom)))

    def of_cells(self, spot: Spot) -> bool:
        """True if the tile is computed from cells, otherwise from the four below it."""
        return self.cells(spot.zoom) <= DIRECT

    def check(self, spot: Spot) -> None:
        """Raises NoSuchPlace if the tile does not exist."""
        if not 0 <= spot.zoom <= self.last:
            raise NoSuchPlace(what=N_("zoom"), value=spot.zoom, count=self.last + 1)
        for value in (spot.x, spot.y):
            if not 0 <= value < self.tiles(spot.zoom):
                raise NoSuchPlace(what=N_("tile"), value=value, count=self.tiles(spot.zoom))

    def part(self, spot: Spot, axis: int) -> slice:
        """The tokens of a tile: 0 its queries, 1 its keys; empty beyond the text."""
        size = SIDE * self.cells(spot.zoom)
        start = min(self.tokens, (spot.y, spot.x)[axis] * size)
        return slice(start, min(self.tokens, start + size))


@dataclass(frozen=True, eq=False)
class Pooled:
    """What pixels show of their cells: the largest weight, the sum, and the number of visible ones (0: none)."""

    largest: Float[Tensor, "rows columns"]
    total: Float[Tensor, "rows columns"]
    visible: Float[Tensor, "rows columns"]

    @property
    def mean(self) -> Float[Tensor, "rows columns"]:
        """The mean over visible cells; NaN if there are none."""
        return self.total / self.visible

    @property
    def most(self) -> Float[Tensor, "rows columns"]:
        """The maximum; NaN if no cell is visible."""
        return self.largest.masked_fill(self.visible == 0, torch.nan)

    @property
    def nbytes(self) -> int:
        """Nearly 0 if nothing is visible: a single number then stands for all."""
        return sum(part.untyped_storage().nbytes() for part in (self.largest, self.total, self.visible))

    def lean(self) -> Pooled:
        """The same in minimal memory if nothing is visible, as in half of a causal map."""
        if self.visible.any():
            return self
        nothing = self.visible.new_zeros(1, 1).expand_as(self.visible)
        return Pooled(nothing, nothing, nothing)


@dataclass(frozen=True, eq=False)
class Tile:
    """256 × 256 pixels, and the same rows' weights on the first token, one column wide."""

    pixels: Pooled
    first: Pooled

    @property
    def nbytes(self) -> int:
        return self.pixels.nbytes + self.first.nbytes

    def packed(self) -> bytes:
        """Little-endian float16: maximum and mean of the pixels, then of the first token, row by row; NaN: masked."""
        parts = [self.pixels.most, self.pixels.mean, self.first.most, self.first.mean]
        return b"".join(part.cpu().numpy().astype("<f2").tobytes() for part in parts)


def zipped(found: Tile) -> bytes:
    """Compress the output of :meth:`Tile.packed` for a network, with duplicates sent once."""
    data = found.packed()
    alone = bool((found.pixels.visible <= 1).all())  # with one cell per pixel, the maximum is the mean
    kept = [data[part] for name, part in zip(NAMES, _parts(), strict=True) if name != "mean" or not alone]
    return zlib.compress(b"".join(kept), QUICK)


def unzipped(data: bytes) -> bytes:
    """Restore the output of :meth:`Tile.packed` from :func:`zipped`. Raises ValueError for other bytes."""
    whole, reader = 2 * FLOAT16 * (SIDE * SIDE + SIDE), zlib.decompressobj()
    try:
        found = reader.decompress(data, whole)
    except zlib.error as error:
        raise ValueError("no tile") from error
    if len(found) == whole - FLOAT16 * SIDE * SIDE:
        largest = _parts()[0]
        found = found[largest] + found
    if len(found) != whole or not reader.eof:
        raise ValueError("no tile")
    return found


def _parts() -> list[slice]:
    """The bytes of each of NAMES in a packed tile."""
    ends = [0, *(FLOAT16 * int(end) for end in np.cumsum((SIDE * SIDE, SIDE * SIDE, SIDE, SIDE)))]
    return [slice(start, stop) for start, stop in pairwise(ends)]


def unpacked(data: bytes) -> dict[str, Float[np.ndarray, "rows columns"]]:
    """Parse the output of :meth:`Tile.packed`, by the names of NAMES."""
    parts = (np.frombuffer(data[part], "<f2") for part in _parts())
    return {name: part.reshape(SIDE, -1) for name, part in zip(NAMES, parts, strict=True)}


def denominators(record: LayerRecord, head: int) -> Denominators:
    """Natural log of one head's softmax denominators, which every tile needs; O(ROWS × keys) memory."""
    return record.log_sum_exp(slice(head, head + 1), slice(0, record.q.shape[1]), ROWS)[0]


def tile(
    record: LayerRecord,
    head: int,
    lse: Denominators,
    spot: Spot,
    below: Callable[[Spot], Tile],
) -> Tile:
    """A tile of a head's weights. ``below`` returns tiles of the next zoom. Raises NoSuchPlace.

    O(its cells) time at most, O(ROWS × their keys) memory.
    """
    tiling = Tiling(record.q.shape[1])
    tiling.check(spot)
    if not tiling.of_cells(spot):
        return _of_four(tiling, spot, below)
    keys, cells = tiling.part(spot, 1), tiling.cells(spot.zoom)
    pixels: list[Pooled] = []
    first: list[Pooled] = []
    for queries in _blocks(tiling.part(spot, 0), cells):
        pixels.append(_pooled(*_cells(record, head, lse, queries, keys, apart=cells > 1), cells, cells))
        first.append(_pooled(*_cells(record, head, lse, queries, slice(0, 1), apart=False), cells, 1))
    return Tile(_stacked(pixels, SIDE).lean(), _stacked(first, 1))


def _blocks(queries: slice, cells: int) -> Iterator[slice]:
    """About ROWS query rows each, in whole rows of pixels."""
    size = max(1, ROWS // cells) * cells
    for start in range(queries.start, queries.stop, size):
        yield slice(start, min(start + size, queries.stop))


def _cells(
    record: LayerRecord, head: int, lse: Tensor, queries: slice, keys: slice, *, apart: bool
) -> tuple[Float[Tensor, "queries keys"], Float[Tensor, "queries keys"]]:
    """Weights, and 1 where a cell is visible; ``apart``: without the first token's column."""
    seen = record.mask.tile(queries, keys, record.q.device, head=head)
    if apart and keys.start == 0:
        seen = seen.index_fill(1, torch.zeros(1, dtype=torch.long, device=seen.device), False)
    if not seen.any():  # skips the masked half of a causal map
        return seen.float(), seen.float()
    found = record.weights(slice(head, head + 1), queries, keys, ROWS, lse[None, queries], shares=True)[0]
    return found.float() * seen, seen.float()


def _pooled(weights: Tensor, seen: Tensor, high: int, wide: int) -> Pooled:
    """Pixels of high × wide cells; the last ones may have fewer."""

    def by_pixel(values: Tensor) -> Tensor:  # (rows, high, columns, wide)
        rows, columns = values.shape
        filled = pad(values, (0, -columns % wide, 0, -rows % high))
        return filled.unflatten(1, (-1, wide)).unflatten(0, (-1, high))

    if high == wide == 1:
        return Pooled(weights, weights, seen)
    folded = by_pixel(weights)  # along a row first, whose cells are contiguous in memory
    return Pooled(folded.amax(3).amax(1), folded.sum(3).sum(1), by_pixel(seen).sum(3).sum(1))


def _stacked(blocks: list[Pooled], columns: int) -> Pooled:
    """Stack vertically, padded to a whole tile with masked pixels."""

    def whole(parts: list[Tensor]) -> Tensor:
        found = torch.cat(parts)
        return pad(found, (0, columns - found.shape[1], 0, SIDE - found.shape[0]))

    return Pooled(
        whole([one.largest for one in blocks]),
        whole([one.total for one in blocks]),
        whole([one.visible for one in blocks]),
    )


def _of_four(tiling: Tiling, spot: Spot, below: Callable[[Spot], Tile]) -> Tile:
    """From the four tiles below: the maximum of the maxima, and the sums added."""
    tiles, end = tiling.tiles(spot.zoom + 1), SIDE // 2
    pixels, first = _nothing(SIDE), _nothing(1)
    for number, part in enumerate(spot.below):
        if part.x >= tiles or part.y >= tiles:
            continue
        row, column = (number // 2) * end, (number % 2) * end
        found = below(part)
        _put(pixels, _halved(found.pixels, 2), slice(row, row + end), slice(column, column + end))
        _put(first, _halved(found.first, 1), slice(row, row + end), slice(0, 1))
    return Tile(pixels.lean(), first)


def _nothing(columns: int) -> Pooled:
    return Pooled(*(torch.zeros(SIDE, columns) for _ in range(3)))


def _halved(part: Pooled, wide: int) -> Pooled:
    def folded(values: Tensor) -> Tensor:
        return values.unflatten(1, (-1, wide)).unflatten(0, (-1, 2))

    return Pooled(folded(part.largest).amax((1, 3)), folded(part.total).sum((1, 3)), folded(part.visible).sum((1, 3)))


def _put(whole: Pooled, part: Pooled, rows: slice, columns: slice) -> None:
    for held, new in ((whole.largest, part.largest), (whole.total, part.total), (whole.visible, part.visible)):
        held[rows, columns] = new.to(held.device)
