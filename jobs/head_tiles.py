"""Tiles and far looks of the heads of one capture, made once: here, or where its tensors are."""

from __future__ import annotations

import threading
from typing import Protocol

from analysis.far_looks import FarLook, far_looks
from analysis.long_map import Denominators, Spot, Tile, Tiling, denominators, tile, unzipped
from analysis.made_there import FarMaker, far_maker
from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture, index
from model_runner.errors import Unreadable
from model_runner.request import CaptureRequest

MOST = 64 * 2**20  # bytes of what can all be made again
FLOAT = 4  # bytes of a denominator
FEW = 4  # heads whose denominators are kept however long the text is
FAR_LOOKS = 8  # that a browser is told
AT_ONCE = threading.BoundedSemaphore(2)  # more would only wait for the same cores


class HeadTiles(Protocol):
    """What is made of the heads of a capture, and kept within ``most`` bytes."""

    @property
    def nbytes(self) -> int:
        """Of what was made; the capture is kept elsewhere."""
        ...

    @property
    def most(self) -> int:
        """Bytes that :attr:`nbytes` never exceeds."""
        ...

    def packed(self, layer: int, head: int, spot: Spot) -> bytes:
        """One tile as :meth:`analysis.long_map.Tile.packed`. Raises NoSuchPlace, NoWeights."""
        ...

    def far(self, layer: int, head: int, least: int, count: int = FAR_LOOKS) -> list[FarLook]:
        """The strongest looks that go at least so many tokens back. Raises NoSuchPlace, NoWeights."""
        ...


def head_tiles(capture: Capture, most: int = MOST) -> HeadTiles:
    """Of a capture whose tensors are elsewhere those that are made there."""
    maker = far_maker(capture)
    return TilesHere(capture, most) if maker is None else TilesThere(maker, capture.request, most)


class TilesHere:
    """What took long is not made anew because something quick was made: in separate parts of ``most`` bytes are kept
    what every row of a head was read for (an eighth), tiles made of many others (five eighths), and tiles of cells.
    """

    def __init__(self, capture: Capture, most: int = MOST) -> None:
        self._capture = capture
        self._rows = ByteBudgetCache(max(most // 8, FEW * FLOAT * len(capture.tokens)))
        self._wide, self._close = ByteBudgetCache(5 * most // 8), ByteBudgetCache(most // 4)
        self._reading = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._wide.nbytes + self._close.nbytes

    @property
    def most(self) -> int:
        return self._rows.most + self._wide.most + self._close.most

    def packed(self, layer: int, head: int, spot: Spot) -> bytes:
        """As :class:`HeadTiles`."""
        return self.tile(layer, head, spot).packed()

    def tile(self, layer: int, head: int, spot: Spot) -> Tile:
        """One tile, made now or before. Raises NoSuchPlace, NoWeights."""
        record = self._capture.record(layer)
        tiling = Tiling(record.q.shape[1])
        tiling.check(spot)

        def made(one: Spot) -> Tile:
            kept = self._close if tiling.of_cells(one) else self._wide
            return kept.made("tiles", (layer, head, one), lambda: tile(record, head, lse, one, made))

        with AT_ONCE:
            lse = self._denominators(layer, head)
            return made(spot)

    def far(self, layer: int, head: int, least: int, count: int = FAR_LOOKS) -> list[FarLook]:
        """As :class:`HeadTiles`."""
        record, key = self._capture.record(layer), (layer, head, least, count)
        with AT_ONCE:
            lse = self._denominators(layer, head)
            return self._rows.made("far", key, lambda: far_looks(record, head, lse, least=least, count=count))

    def _denominators(self, layer: int, head: int) -> Denominators:
        record = self._capture.record(layer)
        head = index("head", head, record.q.shape[0])
        with self._reading:  # who asks meanwhile waits for the same
            return self._rows.made("lse", (layer, head), lambda: denominators(record, head))


class TilesThere:
    """Of a capture whose tensors are elsewhere: bytes of tiles come, and are kept as they came."""

    def __init__(self, maker: FarMaker, request: CaptureRequest, most: int = MOST) -> None:
        self._maker, self._request = maker, request
        self._kept = ByteBudgetCache(most)

    @property
    def nbytes(self) -> int:
        return self._kept.nbytes

    @property
    def most(self) -> int:
        return self._kept.most

    def packed(self, layer: int, head: int, spot: Spot) -> bytes:
        """As :class:`HeadTiles`. Raises Unreadable for what is no tile."""
        at = (layer, head, spot.zoom, spot.x, spot.y)
        try:
            return unzipped(self._kept.made("tiles", at, lambda: self._maker.tile(self._request, *at)))
        except ValueError as error:
            raise Unreadable() from error

    def far(self, layer: int, head: int, least: int, count: int = FAR_LOOKS) -> list[FarLook]:
        """As :class:`HeadTiles`."""
        at = (layer, head, least, count)
        told = self._kept.made("far", at, lambda: self._maker.far(self._request, *at))
        return [FarLook(*one) for one in told]
