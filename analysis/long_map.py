"""The map of a head at any length as tiles of 256 × 256 pixels, each from the exact weights of the cells under it.

Zoom 0 shows all of the text in one tile; with each further zoom a pixel stands for half as many tokens on a side, at
the last one for a single cell. Nothing of size tokens × tokens is held: a tile is made of blocks of rows, or of the
four tiles below it.

The first token stands apart. Many heads park nearly all of their attention there, and the largest or mean of a pixel
that held its column would show that alone: wherever pixels are pooled they leave it out, and every tile carries the
column by itself.
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

SIDE = 256  # pixels of a tile
NAMES = ("max", "mean", "first_max", "first_mean")  # of what a packed tile has, in order
FLOAT16 = 2  # bytes
QUICK = 1  # of zlib: three milliseconds a tile, and the best level is but a twentieth smaller
DIRECT = 8  # cells on a side of the largest pixel that is made of cells; larger ones are made of the tiles below


@dataclass(frozen=True)
class Spot:
    """Tile number ``x`` from the left, of keys, and ``y`` from the top, of queries."""

    zoom: int
    x: int
    y: int

    @property
    def below(self) -> tuple[Spot, Spot, Spot, Spot]:
        """The four tiles that show the same at the next zoom: upper left, upper right, lower left, lower right."""
        zoom, x, y = self.zoom + 1, 2 * self.x, 2 * self.y
        return Spot(zoom, x, y), Spot(zoom, x + 1, y), Spot(zoom, x, y + 1), Spot(zoom, x + 1, y + 1)


@dataclass(frozen=True)
class Tiling:
    """How a map of so many ``tokens`` on a side is cut."""

    tokens: int

    @property
    def last(self) -> int:
        """The zoom at which a pixel is a cell."""
        return max(0, math.ceil(math.log2(self.tokens / SIDE)))

    def cells(self, zoom: int) -> int:
        """Cells on a side of a pixel."""
        return 2 ** (self.last - zoom)

    def tiles(self, zoom: int) -> int:
        """Tiles on a side that show any of the text."""
        return -(-self.tokens // (SIDE * self.cells(zoom)))

    def of_cells(self, spot: Spot) -> bool:
        """Whether the tile is made of cells; else of the four below it."""
        return self.cells(spot.zoom) <= DIRECT

    def check(self, spot: Spot) -> None:
        """Raises NoSuchPlace for a tile that there is not."""
        if not 0 <= spot.zoom <= self.last:
            raise NoSuchPlace(what=N_("zoom"), value=spot.zoom, count=self.last + 1)
        for value in (spot.x, spot.y):
            if not 0 <= value < self.tiles(spot.zoom):
                raise NoSuchPlace(what=N_("tile"), value=value, count=self.tiles(spot.zoom))

    def part(self, spot: Spot, axis: int) -> slice:
        """The tokens of a tile: 0 its queries, 1 its keys; none of one that lies behind the text."""
        size = SIDE * self.cells(spot.zoom)
        start = min(self.tokens, (spot.y, spot.x)[axis] * size)
        return slice(start, min(self.tokens, start + size))


@dataclass(frozen=True, eq=False)
class Pooled:
    """What pixels show of the cells under them: the largest weight, their sum, and how many are visible (0: none)."""

    largest: Float[Tensor, "rows columns"]
    total: Float[Tensor, "rows columns"]
    visible: Float[Tensor, "rows columns"]

    @property
    def mean(self) -> Float[Tensor, "rows columns"]:
        """Over the visible cells; NaN where there is none."""
        return self.total / self.visible

    @property
    def most(self) -> Float[Tensor, "rows columns"]:
        """The largest; NaN where no cell is visible."""
        return self.largest.masked_fill(self.visible == 0, torch.nan)

    @property
    def nbytes(self) -> int:
        """Of a part of which nothing is visible hardly any: one number stands for all."""
        return sum(part.untyped_storage().nbytes() for part in (self.largest, self.total, self.visible))

    def lean(self) -> Pooled:
        """The same, in hardly any memory where nothing is visible: half of a causal map."""
        if self.visible.any():
            return self
        nothing = self.visible.new_zeros(1, 1).expand_as(self.visible)
        return Pooled(nothing, nothing, nothing)


@dataclass(frozen=True, eq=False)
class Tile:
    """256 × 256 pixels, and beside them what the same rows do at the first token, one column wide."""

    pixels: Pooled
    first: Pooled

    @property
    def nbytes(self) -> int:
        return self.pixels.nbytes + self.first.nbytes

    def packed(self) -> bytes:
        """Little-endian float16: largest and mean of the pixels, then of the first token, row by row; NaN: masked."""
        parts = [self.pixels.most, self.pixels.mean, self.first.most, self.first.mean]
        return b"".join(part.cpu().numpy().astype("<f2").tobytes() for part in parts)


def zipped(found: Tile) -> bytes:
    """What :meth:`Tile.packed` gives, for a network: what is there twice once, and compressed."""
    data = found.packed()
    alone = bool((found.pixels.visible <= 1).all())  # a cell a pixel is its mean too
    kept = [data[part] for name, part in zip(NAMES, _parts(), strict=True) if name != "mean" or not alone]
    return zlib.compress(b"".join(kept), QUICK)


def unzipped(data: bytes) -> bytes:
    """What :meth:`Tile.packed` gave, from what :func:`zipped` made of it. Raises ValueError for other bytes."""
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
    """What :meth:`Tile.packed` wrote, by the names of NAMES."""
    parts = (np.frombuffer(data[part], "<f2") for part in _parts())
    return {name: part.reshape(SIDE, -1) for name, part in zip(NAMES, parts, strict=True)}


def denominators(record: LayerRecord, head: int) -> Denominators:
    """Natural log of one head's softmax denominators, which every tile of it needs; O(ROWS × keys) memory."""
    return record.log_sum_exp(slice(head, head + 1), slice(0, record.q.shape[1]), ROWS)[0]


def tile(
    record: LayerRecord,
    head: int,
    lse: Denominators,
    spot: Spot,
    below: Callable[[Spot], Tile],
) -> Tile:
    """A tile of a head's weights. ``below`` gives those of the next zoom. Raises NoSuchPlace.

    O(the cells under it) time at most, O(ROWS × their keys) memory.
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
    """About ROWS query rows each, whole rows of pixels."""
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
    if not seen.any():  # the half of a causal map that need not be computed
        return seen.float(), seen.float()
    found = record.weights(slice(head, head + 1), queries, keys, ROWS, lse[None, queries], shares=True)[0]
    return found.float() * seen, seen.float()


def _pooled(weights: Tensor, seen: Tensor, high: int, wide: int) -> Pooled:
    """Pixels of high × wide cells; the last ones may stand for fewer."""

    def by_pixel(values: Tensor) -> Tensor:  # (rows, high, columns, wide)
        rows, columns = values.shape
        filled = pad(values, (0, -columns % wide, 0, -rows % high))
        return filled.unflatten(1, (-1, wide)).unflatten(0, (-1, high))

    if high == wide == 1:
        return Pooled(weights, weights, seen)
    folded = by_pixel(weights)  # along a row first: its cells stand side by side in memory
    return Pooled(folded.amax(3).amax(1), folded.sum(3).sum(1), by_pixel(seen).sum(3).sum(1))


def _stacked(blocks: list[Pooled], columns: int) -> Pooled:
    """One below the other, filled up to a whole tile with what is not visible."""

    def whole(parts: list[Tensor]) -> Tensor:
        found = torch.cat(parts)
        return pad(found, (0, columns - found.shape[1], 0, SIDE - found.shape[0]))

    return Pooled(
        whole([one.largest for one in blocks]),
        whole([one.total for one in blocks]),
        whole([one.visible for one in blocks]),
    )


def _of_four(tiling: Tiling, spot: Spot, below: Callable[[Spot], Tile]) -> Tile:
    """From the four tiles below: the largest of the largest, the sums added."""
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
