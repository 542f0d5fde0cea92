"""Map tiles and long-range links of a capture's heads, cached, computed here or where its tensors are."""

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

MOST = 64 * 2**20  # bytes of cached results, all of which can be recomputed
FLOAT = 4  # bytes of a denominator
FEW = 4  # heads whose denominators are kept for texts of any length
FAR_LOOKS = 8  # links that are sent to a browser
AT_ONCE = threading.BoundedSemaphore(2)  # more would only compete for the same cores


class HeadTiles(Protocol):
    """Results for the heads of a capture, cached within ``most`` bytes."""

    @property
    def nbytes(self) -> int:
        """Bytes of cached results, without the capture."""
        ...

    @property
    def most(self) -> int:
        """Upper bound of :attr:`nbytes`."""
        ...

    def packed(self, layer: int, head: int, spot: Spot) -> bytes:
        """One tile as :meth:`analysis.long_map.Tile.packed`. Raises NoSuchPlace, NoWeights."""
        ...

    def far(self, layer: int, head: int, least: int, count: int = FAR_LOOKS) -> list[FarLook]:
        """The strongest links over at least this many tokens. Raises NoSuchPlace, NoWeights."""
        ...


def head_tiles(capture: Capture, most: int = MOST) -> HeadTiles:
    """Tiles of the capture, computed remotely if its tensors are remote."""
    maker = far_maker(capture)
    return TilesHere(capture, most) if maker is None else TilesThere(maker, capture.request, most)


class TilesHere:
    """Tiles computed in this process. Separate caches keep expensive results from being evicted by cheap ones.

    Of ``most`` bytes, an eighth holds results that need every row of a head, five eighths tiles that pool many tiles,
    and the rest tiles of single cells.
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
        """See :class:`HeadTiles`."""
        return self.tile(layer, head, spot).packed()

    def tile(self, layer: int, head: int, spot: Spot) -> Tile:
        """One tile, cached. Raises NoSuchPlace, NoWeights."""
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
        """See :class:`HeadTiles`."""
        record, key = self._capture.record(layer), (layer, head, least, count)
        with AT_ONCE:
            lse = self._denominators(layer, head)
            return self._rows.made("far", key, lambda: far_looks(record, head, lse, least=least, count=count))

    def _denominators(self, layer: int, head: int) -> Denominators:
        record = self._capture.record(layer)
        head = index("head", head, record.q.shape[0])
        with self._reading:  # concurrent callers wait for the same result
            return self._rows.made("lse", (layer, head), lambda: denominators(record, head))


class TilesThere:
    """Tiles of a capture whose tensors are remote, cached as the bytes received."""

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
        """See :class:`HeadTiles`. Raises Unreadable if the bytes are no tile."""
        at = (layer, head, spot.zoom, spot.x, spot.y)
        try:
            return unzipped(self._kept.made("tiles", at, lambda: self._maker.tile(self._request, *at)))
        except ValueError as error:
            raise Unreadable() from error

    def far(self, layer: int, head: int, least: int, count: int = FAR_LOOKS) -> list[FarLook]:
        """See :class:`HeadTiles`."""
        at = (layer, head, least, count)
        told = self._kept.made("far", at, lambda: self._maker.far(self._request, *at))
        return [FarLook(*one) for one in told]
