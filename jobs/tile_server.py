"""The long maps of one capture, open for a session and its class: what their browsers may ask for, and what is made."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import asdict

from analysis.far_looks import FarLook, far_looks
from analysis.long_map import Denominators, Spot, Tile, Tiling, denominators, tile
from jobs.tile_tickets import TICKETS, TileTickets
from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture, index
from model_runner.errors import UserFacingError

MOST = 64 * 2**20  # bytes of what can all be made again
FLOAT = 4  # bytes of a denominator
FEW = 4  # heads whose denominators are kept however long the text is
FAR_LOOKS = 8  # that a browser is told
AT_ONCE = threading.BoundedSemaphore(2)  # more would only wait for the same cores


class TileServer:
    """Answers with tiles and far looks of the layers that its session's page has shown, as long as it is open.

    What took long is not made anew because something quick was made: in separate parts of ``most`` bytes are kept what
    every row of a head was read for (an eighth), tiles made of many others (five eighths), and tiles of cells.
    """

    def __init__(
        self, capture: Capture, most: int = MOST, desk: TileTickets = TICKETS, grown: Callable[[], None] = lambda: None
    ) -> None:
        """``grown`` is told when there is more that was made."""
        self._capture, self._desk, self._grown = capture, desk, grown
        self._rows = ByteBudgetCache(max(most // 8, FEW * FLOAT * len(capture.tokens)))
        self._wide, self._close = ByteBudgetCache(5 * most // 8), ByteBudgetCache(most // 4)
        self._reading, self._layers = threading.Lock(), set[int]()
        self.ticket = desk.open(self)

    @property
    def _kept(self) -> tuple[ByteBudgetCache, ByteBudgetCache, ByteBudgetCache]:
        return self._rows, self._wide, self._close

    @property
    def nbytes(self) -> int:
        """Of what was made; the capture is kept elsewhere."""
        return sum(part.nbytes for part in self._kept)

    @property
    def most(self) -> int:
        """Bytes that :attr:`nbytes` never exceeds."""
        return sum(part.most for part in self._kept)

    def show(self, layer: int) -> None:
        """This layer may be asked for: it passed its check."""
        self._layers.add(layer)

    def close(self) -> None:
        """Nobody is answered any more."""
        self._desk.close(self.ticket)

    def answer(self, what: str, numbers: tuple[int, ...]) -> bytes:
        """A "tile" (layer, head, zoom, x, y) as :meth:`Tile.packed`, or "far" looks (layer, head, distance) as JSON.

        Raises LookupError for what there is not, and for a layer that the page has not shown.
        """
        if (what, len(numbers)) not in (("tile", 5), ("far", 3)) or numbers[0] not in self._layers:
            raise LookupError(what)
        layer, head, *rest = numbers
        before = self.nbytes
        try:
            with AT_ONCE:
                if what == "tile":
                    return self.tile(layer, head, Spot(*rest)).packed()
                return json.dumps([asdict(look) for look in self.far(layer, head, rest[0])]).encode()
        except UserFacingError as error:
            raise LookupError(what) from error
        finally:
            if self.nbytes != before:
                self._grown()

    def tile(self, layer: int, head: int, spot: Spot) -> Tile:
        """One tile, made now or before. Raises NoSuchPlace, NoWeights."""
        record = self._capture.record(layer)
        tiling = Tiling(record.q.shape[1])
        tiling.check(spot)
        lse = self._denominators(layer, head)

        def made(one: Spot) -> Tile:
            kept = self._close if tiling.of_cells(one) else self._wide
            return kept.made("tiles", (layer, head, one), lambda: tile(record, head, lse, one, made))

        return made(spot)

    def far(self, layer: int, head: int, least: int, count: int = FAR_LOOKS) -> list[FarLook]:
        """The strongest looks that go at least so many tokens back. Raises NoSuchPlace, NoWeights."""
        record, lse = self._capture.record(layer), self._denominators(layer, head)
        key = (layer, head, least, count)
        return self._rows.made("far", key, lambda: far_looks(record, head, lse, least=least, count=count))

    def _denominators(self, layer: int, head: int) -> Denominators:
        record = self._capture.record(layer)
        head = index("head", head, record.q.shape[0])
        with self._reading:  # who asks meanwhile waits for the same
            return self._rows.made("lse", (layer, head), lambda: denominators(record, head))
