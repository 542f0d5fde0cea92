"""A figure's SVG as a PDF or image for a paper or slide: a given number of inches wide, with no text below 7 points.

Typeset by typst (its wheel has no dependencies): a PDF's fonts are embedded, and each word is set in a font that has
its characters.
"""

from __future__ import annotations

import io
import re
from html import unescape
from typing import Literal

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from viz.svg import LIGHT, SMALLEST_TEXT

N_ = str  # marks a text for Babel without translating it here

INCHES: dict[str, float] = {"column": 3.3, "page": 6.9, "slide": 12.0}
LABELS = {"column": N_("one column (3.3 in)"), "page": N_("two columns (6.9 in)"), "slide": N_("slide (12 in)")}
POINTS = 72  # per inch
LEAST = 7.0  # points of the smallest text
PIXELS = 300  # of a PNG, per inch

_SIZE = re.compile(r' width="([\d.]+)" height="([\d.]+)" viewBox="0 0 ([\d.]+) ([\d.]+)"')
_PAGE = b"""#set page(width: auto, height: auto, margin: 0pt)
#set document(title: sys.inputs.title, description: sys.inputs.description, date: none)
#image(bytes(sys.inputs.svg), format: "svg", alt: sys.inputs.title)"""


class NoTypesetter(ImportError):
    """The package that makes PDFs and images is not installed."""

    def __init__(self) -> None:
        super().__init__('PDF and PNG files need the package typst. Run: pip install "attention-atlas[pdf]"')


def room_of(size: str) -> float:
    """The widest figure, in units of its SVG, whose text has 7 points at this size."""
    return INCHES[size] * POINTS / LEAST * SMALLEST_TEXT


def fits(svg: str, size: str) -> bool:
    """Return True if no text of the figure is below 7 points at this size."""
    return _width(svg) <= room_of(size) + 0.01  # its width is written with six digits


def on_paper(svg: str, size: str) -> str:
    """The figure at this width on white. Raises ValueError if its text would be too small to read."""
    if not fits(svg, size):
        points = SMALLEST_TEXT * INCHES[size] * POINTS / _width(svg)
        raise ValueError(f"At {INCHES[size]} inches its text would have {points:.1f} points; it needs {LEAST:g}.")
    height = INCHES[size] * float(_found(svg)[4]) / _width(svg)
    sizes = f' width="{INCHES[size]:g}in" height="{height:.4g}in" viewBox="0 0 {_found(svg)[3]} {_found(svg)[4]}"'
    return _SIZE.sub(sizes, svg, count=1).replace(LIGHT.background, "#ffffff")


def pdf_bytes(svg: str) -> bytes:
    """One page with the figure, whose title and description become the file's metadata. Raises NoTypesetter."""
    return _compiled(svg, "pdf")


def png_bytes(svg: str, *, pixels: float = PIXELS) -> bytes:
    """The figure as an image with this many pixels per inch, title and description included. Raises NoTypesetter."""
    said = PngInfo()
    said.add_itxt("Title", _said(svg, "title"))
    said.add_itxt("Description", _said(svg, "desc"))
    data = io.BytesIO()
    with Image.open(io.BytesIO(_compiled(svg, "png", pixels))) as picture:
        picture.save(data, "PNG", pnginfo=said, dpi=(pixels, pixels))
    return data.getvalue()


def _compiled(svg: str, form: Literal["pdf", "png"], pixels: float | None = None) -> bytes:
    try:
        import typst  # a large library that nothing else needs
    except ImportError:
        raise NoTypesetter() from None
    inputs = {"svg": svg, "title": _said(svg, "title"), "description": _said(svg, "desc")}
    return typst.compile(_PAGE, format=form, ppi=pixels, sys_inputs=inputs)


def _said(svg: str, tag: str) -> str:
    found = re.search(f"<{tag}>([^<]*)</{tag}>", svg)
    return "" if found is None else unescape(found[1])


def _found(svg: str) -> re.Match[str]:
    found = _SIZE.search(svg)
    if found is None:
        raise ValueError("not one of our figures: it has no size")
    return found


def _width(svg: str) -> float:
    return float(_found(svg)[3])
