"""The teacher's end of a room: shows how many students are there, and sends what is pointed at in figures to the room.

It has a connection of its own while the teacher's page is open. The tab keeps the room's key across reloads: if the
session has no room, it sends the key and gets its room back; a cookie, ``TEACHES``, tells the server of a reloaded page
that there may be a room. Leaving with unsaved answers asks for confirmation. Figures are identified by the keys under
which the page mounted them, which Streamlit (1.67) writes into a class of their containers.
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
    """Path of the room's WebSocket."""
    born: str
    """Identifies the server process."""
    texts: Texts
    code: str = ""
    key: str = ""
    """Proves that this is the teacher's page; empty: no room. Then a tab that has one sends its key as ``back``."""
    over: bool = False
    """The room has ended; the key is not sent."""
    asks: bool = False
    """The page waits: a tab without a room sends ""."""
