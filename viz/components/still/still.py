"""A figure that is HTML on the teacher's page, for phones: the same elements, as data and not as HTML.

A phone's page accepts no styles in HTML (its policy), and nothing that could run: the elements are parsed here and
created one by one there, and only those that figures use are allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Annotated, Any

from viz.components.picture import Picture, TypeScript
from viz.components.source import read_source

SOURCE = read_source(Path(__file__).parent, "still", '<div class="still"></div>\n')

EMPTY = frozenset({"br", "img"})
TAGS = EMPTY | frozenset(
    (
        "b", "bdi", "caption", "code", "div", "em", "figcaption", "figure", "i", "li", "mark", "ol", "p", "small",
        "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
    )
)  # fmt: skip
ATTRIBUTES = frozenset(
    (
        "alt", "class", "colspan", "height", "lang", "role", "rowspan", "scope", "src", "style", "tabindex", "title",
        "width",
    )
)  # fmt: skip


class _Elements(HTMLParser):
    """[tag, attributes, children …] of each element, texts as they are, and the style sheets' text separately."""

    def __init__(self) -> None:
        super().__init__()
        self.sheets: list[str] = []
        self.open: list[list[Any]] = [["", {}]]
        self.in_sheet = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "style":
            self.in_sheet = True
            return
        given = {name: value or "" for name, value in attrs}
        other = [name for name in given if name not in ATTRIBUTES and not name.startswith("aria-")]
        if tag not in TAGS or other or not given.get("src", "data:image/").startswith("data:image/"):
            raise ValueError(f"<{tag}> with {', '.join(given) or 'no attributes'} is no part of a figure")
        made: list[Any] = [tag, given]
        self.open[-1].append(made)
        if tag not in EMPTY:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        if tag == "style":
            self.in_sheet = False
        elif tag not in EMPTY:
            closed = self.open.pop()[0]
            if closed != tag:
                raise ValueError(f"</{tag}> ends <{closed}>")

    def handle_data(self, data: str) -> None:
        (self.sheets if self.in_sheet else self.open[-1]).append(data)


@dataclass(frozen=True, eq=False)
class StillPicture(Picture):
    """The elements of a figure that the app wrote as HTML."""

    css: str
    nodes: Annotated[Sequence[Any], TypeScript("Still[]")]
    """Texts as they are, and [tag, attributes, children …] of each element."""


def still_picture(html: str) -> StillPicture:
    """Parse ``html``, which the app made. Raises ValueError for anything that no figure uses."""
    read = _Elements()
    read.feed(html)
    read.close()
    if len(read.open) > 1:
        raise ValueError(f"<{read.open[-1][0]}> has no end")
    return StillPicture(css="\n".join(read.sheets), nodes=read.open[0][2:])
