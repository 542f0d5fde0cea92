"""Small words: light and dark change Streamlit's theme for every page of the app, and projector makes all large.

Streamlit 1.67 keeps the reader's theme in the browser, one localStorage entry per URL path, and reads it only while
loading. So the switch writes the entry of every path it is given and loads the page again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from viz.components.packing import pack
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


def payload(
    *,
    paths: Sequence[str],
    texts: Mapping[str, str],
    lang: str = "en",
    reach: Mapping[str, str] | None = None,
    charts: str = "",
) -> bytes:
    """`paths` are the URL paths of all pages ("/", "/cell", …); the page that is open is always included.

    `lang` is told to the browser as the page's language: it reads and draws Chinese by it, and Streamlit says English.
    `reach` is a session's "ticket", the server's "base" and the "style" sheet's URL below it, which the page wears
    from then on; after that the browser asks once with the ticket, so that the server knows that it can, and does.
    `charts` is the name of the script that draws Streamlit's charts, which the browser imports while nothing happens.
    """
    return pack({"paths": list(paths), "texts": dict(texts), "lang": lang, "reach": reach, "charts": charts}, {})
