"""Small words: light and dark change Streamlit's theme for every page of the app, and projector makes all large.

Streamlit 1.67 keeps the reader's theme in the browser, one localStorage entry per URL path, and reads it only while
loading. So the switch writes the entry of every path it is given and loads the page again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import Picture, Texts
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {"label": N_("Colours"), "light": N_("light"), "dark": N_("dark"),
    "projector": N_("projector"),
    "key": N_("Large, in full contrast, without the sidebar: key P. PageUp and PageDown step through the page, and"
        " PageDown reveals the answers of a class."
        " For what is in the sidebar, such as asking the class, press P first."),
    "leave": N_("leave projector (P), for the sidebar and the room in it"),
}  # fmt: skip

SOURCE = read_source(Path(__file__).parent, "theme_switch", '<div class="theme-switch"></div>\n')


@dataclass(frozen=True)
class Reach:
    """Where to ask, for what the session was sent and for the page's style sheet.

    The page wears the style from then on; after that the browser asks once with the ticket, so that the server knows
    that it can, and does.
    """

    ticket: str
    base: str
    """The server's."""
    style: str
    """The sheet's URL below `base`."""


@dataclass(frozen=True, eq=False)
class ThemeSwitchPicture(Picture):
    """What the browser is told of the page."""

    paths: Sequence[str]
    """The URL paths of all pages ("/", "/cell", …); the page that is open is always included."""
    texts: Texts
    lang: str = "en"
    """The page's language, which the browser reads and draws Chinese by; Streamlit says English."""
    reach: Reach | None = None
    charts: str = ""
    """The name of the script that draws Streamlit's charts, which the browser imports while nothing happens."""
