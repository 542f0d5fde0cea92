"""The long maps of one capture, open for a session and its class: what their browsers may ask for, and what is made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

from analysis.far_looks import FarLook
from analysis.long_map import Spot
from jobs.head_tiles import FAR_LOOKS, MOST, head_tiles
from jobs.tile_tickets import TICKETS, TileTickets
from model_runner.capture import Capture
from model_runner.errors import UserFacingError


class TileServer:
    """Answers with tiles and far looks of the layers that its session's page has shown, as long as it is open."""

    def __init__(
        self, capture: Capture, most: int = MOST, desk: TileTickets = TICKETS, grown: Callable[[], None] = lambda: None
    ) -> None:
        """``grown`` is told when there is more that was made."""
        self._desk, self._grown = desk, grown
        self._tiles, self._layers = head_tiles(capture, most), set[int]()
        self.ticket = desk.open(self)

    @property
    def nbytes(self) -> int:
        """Of what was made; the capture is kept elsewhere."""
        return self._tiles.nbytes

    @property
    def most(self) -> int:
        """Bytes that :attr:`nbytes` never exceeds."""
        return self._tiles.most

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
            if what == "tile":
                return self._tiles.packed(layer, head, Spot(*rest))
            return json.dumps([asdict(look) for look in self.far(layer, head, rest[0])]).encode()
        except UserFacingError as error:
            raise LookupError(what) from error
        finally:
            if self.nbytes != before:
                self._grown()

    def far(self, layer: int, head: int, least: int, count: int = FAR_LOOKS) -> list[FarLook]:
        """The strongest looks that go at least so many tokens back. Raises NoSuchPlace, NoWeights."""
        return self._tiles.far(layer, head, least, count)
