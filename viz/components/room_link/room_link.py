"""The teacher's end of a room: how many are there, and what is pointed at in the page's figures, told to the room.

It holds a connection of its own, for as long as the teacher's page is there. The tab keeps the room's key through
loads: where no room is open, it says so, and is given its room back; a cookie, ``TEACHES``, tells the server of a page
that is loaded that it may have one. Who leaves with answers that no file has is asked. Figures are known by the keys
under which the page mounted them, which Streamlit (1.67) writes into a class of their containers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import Picture, Texts
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "there": N_("{count} here"),
    "lost": N_("The connection to the room was lost; reconnecting …"),
    "ended": N_("This room has ended."),
}

TEACHES = "atlas-teaches"

SOURCE = read_source(Path(__file__).parent, "room_link", '<div class="room-link"></div>\n')


@dataclass(frozen=True, eq=False)
class RoomLinkPicture(Picture):
    """The teacher's link to the room."""

    talk: str
    """The path of the room's WebSocket."""
    born: str
    """Names the server."""
    texts: Texts
    code: str = ""
    key: str = ""
    """Proves that this is the teacher's page; none: no room. Then a tab that has one tells it as ``back``."""
    over: bool = False
    """That room has ended: nothing is told."""
    asks: bool = False
    """It is waited for: a tab that has none tells ""."""
