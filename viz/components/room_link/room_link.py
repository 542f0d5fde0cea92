"""The teacher's end of a room: how many are there, and what is pointed at in the page's figures, told to the room.

It holds a connection of its own, for as long as the teacher's page is there. The tab keeps the room's key through
loads: where no room is open, it says so, and is given its room back; a cookie, ``TEACHES``, tells the server of a page
that is loaded that it may have one. Who leaves with answers that no file has is asked. Figures are known by the keys
under which the page mounted them, which Streamlit (1.67) writes into a class of their containers.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from viz.components.packing import pack
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "there": N_("{count} here"),
    "lost": N_("The connection to the room was lost; it is tried again …"),
    "ended": N_("This room has ended."),
}

TEACHES = "atlas-teaches"

SOURCE = read_source(Path(__file__).parent, "room_link", '<div class="room-link"></div>\n')


def payload(
    *,
    talk: str,
    born: str,
    code: str = "",
    key: str = "",
    over: bool = False,
    asks: bool = False,
    texts: Mapping[str, str],
) -> bytes:
    """`talk` is the path of the room's WebSocket, `key` what proves that this is the teacher's page; none: no room.

    Then it is told as ``back`` by a tab that has one, unless that room is `over`; where it is waited for, `asks`, also
    by one that has none, as "". `born` names the server.
    """
    meta = {"talk": talk, "born": born, "code": code, "key": key, "over": over, "asks": asks, "texts": dict(texts)}
    return pack(meta, {})
