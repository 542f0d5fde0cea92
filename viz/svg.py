"""The only writer of SVG documents, for files and prints: escapes strings, and has what all figures share.

A document has its own colours and no external references.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from viz.color import palette
from viz.token_text import escaped, shortened, wrapped

Hatch: TypeAlias = Literal["masked", "left_out"]

MARGIN = 20
FONT = 12  # of words; titles have 15
SMALLEST_TEXT = 11  # of words in `quiet` and of the axes
# The reader's own font; in a file set without one, such as a PDF, the first that the system has.
_FAMILIES = (
    "system-ui,-apple-system,'Segoe UI','Noto Sans','Helvetica Neue',Arial,'Liberation Sans','DejaVu Sans',sans-serif"
)
_TITLE_LINE = 20
LINE = 16  # line height of the caption


@dataclass(frozen=True)
class Ink:
    """A document's colours that do not depend on its data."""

    background: str
    text: str
    quiet: str
    rule: str


LIGHT = Ink(background="#fcfcfa", text="#1a1c22", quiet="#6c6d71", rule="#d9d9d4")
DARK = Ink(background="#14151a", text="#e6e6e1", quiet="#9d9d9b", rule="#3b3c40")


def element(name: str, *children: str, **attributes: str | float) -> str:
    """One element; its children are markup already. `text_anchor=` is the attribute text-anchor, `class_=` class.

    Numbers have six digits; an attribute that is "" is left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value) if isinstance(value, str) else f"{value:g}"}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def text(words: str, kind: str = "", **attributes: str | float) -> str:
    """A line of text, escaped here; `kind` is a class of the style sheet: quiet, bold, removed, …."""
    return element("text", escaped(words), class_=kind, **attributes)


def label(words: str, ems: float) -> str:
    """A token cut to a width, between direction marks, so that it cannot reorder its surroundings."""
    return f"\u2068{shortened(words, ems)}\u2069"


def rgb(color: Sequence[float]) -> str:
    """A colour of the palette as an attribute."""
    red, green, blue = color
    return f"rgb({red},{green},{blue})"


def lines_across(kind: Hatch, ink: Ink, *, name: str) -> str:
    """A fill pattern, `url(#name)`: paper with thin lines, as hatch.js draws masked cells.

    Lines of masked cells lean to the right, far apart; those of keys that an indexer did not select lean to the left,
    closer together.
    """
    masked = kind == "masked"
    every, color = (8, rgb(palette()["masked"]["dark" if ink is DARK else "light"])) if masked else (5, ink.quiet)
    side = {"width": every, "height": every}
    across = f"M-1 {every + 1}L{every + 1} -1" if masked else f"M-1 -1L{every + 1} {every + 1}"
    corners = f"M-1 1L1 -1M{every - 1} {every + 1}L{every + 1} {every - 1}"
    if not masked:
        corners = f"M{every - 1} -1L{every + 1} 1M-1 {every - 1}L1 {every + 1}"
    paper = element("rect", **side, fill=ink.background)
    lines = element("path", d=across + corners, stroke=color, stroke_width=0.8)
    return element("defs", element("pattern", paper, lines, id=name, patternUnits="userSpaceOnUse", **side))


def caption_lines(caption: str, width: float) -> list[str]:
    """The caption as lines that fit a document of this width."""
    return [line for part in caption.splitlines() for line in wrapped(part, (width - 2 * MARGIN) / 11)]


def title_lines(title: str, width: float) -> list[str]:
    """The title as lines that fit a document of this width."""
    return wrapped(title, (width - 2 * MARGIN) / 15) if title else []


def document(
    body: Iterable[str],
    *,
    width: float,
    below: float,
    title: str,
    caption: str,
    ink: Ink = LIGHT,
    room: float = MARGIN,
    bare: bool = False,
) -> str:
    """The whole file: title at the top, `body`, and from `below` on the caption, with `room` under it.

    A title longer than the file's width wraps, and the rest moves down. `bare`: title and caption are metadata and not
    drawn, as a paper has its own.
    """
    lines = [] if bare else caption_lines(caption, width)
    headed = [] if bare else title_lines(title, width)
    lower = _TITLE_LINE * max(0, len(headed) - 1)
    height = round(lower + below + LINE * len(lines) + room, 1)
    parts = [
        element("title", escaped(title)),
        element("desc", escaped(caption)),
        element("style", _style(ink)),
        element("rect", width="100%", height="100%", fill=ink.background),
        *(text(line, "title", x=MARGIN, y=MARGIN + 14 + _TITLE_LINE * i) for i, line in enumerate(headed)),
        *([element("g", *body, transform=f"translate(0 {lower})")] if lower else body),
        *(text(line, "quiet", x=MARGIN, y=lower + below + LINE * i) for i, line in enumerate(lines)),
    ]
    size = {"width": width, "height": height, "viewBox": f"0 0 {width:g} {height:g}"}
    return element("svg", *parts, xmlns="http://www.w3.org/2000/svg", **size, role="img") + "\n"


def _style(ink: Ink) -> str:
    return (
        f"text{{font:{FONT}px {_FAMILIES};fill:{ink.text}}}"
        f".quiet,.quiet text{{fill:{ink.quiet}}}.quiet,.quiet text,.axis text{{font-size:{SMALLEST_TEXT}px}}"
        ".title{font-size:15px;font-weight:600}.bold{font-weight:600}.chosen{font-weight:650}"
        f".removed{{fill:{ink.quiet};text-decoration:line-through}}"
        f".thin{{stroke:{ink.quiet};stroke-opacity:.35;stroke-width:.5}}"
    )
