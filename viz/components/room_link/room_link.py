"""The teacher's end of a room: how many are there, and what is pointed at in the page's figures, told to the room.

It holds a connection of its own, for as long as the teacher's page is there. Figures are known by the keys under which
the page mounted them, which Streamlit (1.67) writes into a class of their containers.
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

SOURCE = read_source(Path(__file__).parent, "room_link", '<div class="room-link"></div>\n')


def payload(*, talk: str, code: str, key: str, texts: Mapping[str, str]) -> bytes:
    """`talk` is the path of the room's WebSocket, `key` what proves that this is the teacher's page."""
    return pack({"talk": talk, "code": code, "key": key, "texts": dict(texts)}, {})
