"""The buttons for light and dark, which change Streamlit's theme on every page, and for presentation mode.

Streamlit 1.67 stores the reader's theme in the browser, one localStorage entry per URL path, and reads it only while
loading. So the switch writes the entry of every given path and reloads the page.
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
    """Where to request the session's arrays and the page's style sheet.

    The page uses the style from then on; the browser then makes one request with the ticket, which shows the server
    that it can fetch.
    """

    ticket: str
    base: str
    """The server's."""
    style: str
    """The sheet's URL below `base`."""


@dataclass(frozen=True, eq=False)
class ThemeSwitchPicture(Picture):
    """What the browser needs to know about the page."""

    paths: Sequence[str]
    """The URL paths of all pages ("/", "/cell", …); the open page is always included."""
    texts: Texts
    lang: str = "en"
    """The page's language, by which the browser reads it aloud and renders Chinese; Streamlit says English."""
    reach: Reach | None = None
    charts: str = ""
    """The name of the script that draws Streamlit's charts, which the browser preloads when idle."""
