"""Tiles of one capture's long maps, served to a session's browser and its class."""

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
    """Serves tiles and long-range links of the layers that the session's page has shown, while it is open."""

    def __init__(
        self, capture: Capture, most: int = MOST, desk: TileTickets = TICKETS, grown: Callable[[], None] = lambda: None
    ) -> None:
        """``grown`` is called when more results are cached."""
        self._desk, self._grown = desk, grown
        self._tiles, self._layers = head_tiles(capture, most), set[int]()
        self.ticket = desk.open(self)

    @property
    def nbytes(self) -> int:
        """Bytes of cached results, without the capture."""
        return self._tiles.nbytes

    @property
    def most(self) -> int:
        """Upper bound of :attr:`nbytes`."""
        return self._tiles.most

    def show(self, layer: int) -> None:
        """Allow requests for this layer, which passed its verification."""
        self._layers.add(layer)

    def close(self) -> None:
        """Stop answering."""
        self._desk.close(self.ticket)

    def answer(self, what: str, numbers: tuple[int, ...]) -> bytes:
        """Return a "tile" (layer, head, zoom, x, y) as :meth:`Tile.packed`, or "far" links (layer, head, distance) as
        JSON.

        Raises LookupError for anything else, and for a layer that the page has not shown.
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
        """The strongest links over at least this many tokens. Raises NoSuchPlace, NoWeights."""
        return self._tiles.far(layer, head, least, count)
