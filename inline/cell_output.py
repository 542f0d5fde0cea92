"""A figure as a notebook shows it: a page of its own inside the cell's output, that asks no network and no kernel.

Knows nothing about heads or models. In a frame the figure's names, styles and scripts meet neither the notebook's nor
another figure's, and the page's own content security policy holds. A notebook runs it as it runs any output with a
script: in one that is not trusted, the frame stays empty.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from viz.paper import INCHES, on_paper, pdf_bytes, png_bytes, room_of

# The frame follows the height of its page, which depends on the width. Where a notebook keeps this from running, the
# frame stays as high as `CellOutput.height` and scrolls.
_FIT = (
    "const page=this.contentDocument.body;"
    "new ResizeObserver(()=>{this.style.height=page.offsetHeight+'px'}).observe(page)"
)


PAGE = ".html"
WRITERS: dict[str, Callable[[str], bytes]] = {".svg": str.encode, ".pdf": pdf_bytes, ".png": png_bytes}


@dataclass(frozen=True)
class CellOutput:
    """``page`` is a whole HTML page that needs no network; ``says`` tells it in words; ``height`` is in CSS pixels.

    ``picture`` makes its SVG: None, as on the screen; else no wider than so many units of the file, as a paper has it.
    """

    page: bytes = field(repr=False)
    says: str
    height: int
    picture: Callable[[float | None], str] = field(repr=False, compare=False)
    drawn_in: int | None = field(default=None, repr=False, compare=False)  # the number of the cell that drew it already

    def save(self, path: str | PathLike[str], *, size: str | None = None) -> None:
        """Write it to a file that ends in .html, .svg, .pdf or .png, in place of one that is there.

        ``size`` is "column" (3.3 inches), "page" (6.9) or "slide" (12): on white, without title and caption, no text
        below 7 points. Without it a figure is as on the screen. A PDF has its fonts in it.
        Raises ValueError for another ending or size, or a figure too wide for the size; NoTypesetter; OSError.
        """
        ending = Path(path).suffix.lower()
        if ending not in (PAGE, *WRITERS):
            endings = ", ".join((PAGE, *WRITERS))
            raise ValueError(f"A figure is saved as {endings}: {Path(path).name!r} ends otherwise.")
        if size is not None and size not in INCHES:
            raise ValueError(f"There is no size {size!r}; choose from {', '.join(INCHES)}.")
        if ending == PAGE:
            Path(path).write_bytes(self.page)
            return
        svg = self.picture(None) if size is None else on_paper(self.picture(room_of(size)), size)
        Path(path).write_bytes(WRITERS[ending](svg))

    @property
    def html(self) -> str:
        """The frame with the page in it, to be put anywhere in another page."""
        return (
            f'<iframe title="{escape(self.says)}" onload="{escape(_FIT)}" srcdoc="{escape(self.page.decode())}" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )

    def _repr_html_(self) -> str:
        """What Jupyter asks an object for."""
        return self.html

    def _ipython_display_(self) -> None:
        """What IPython calls for the value of a cell: nothing more where :func:`shown` drew it in the same cell."""
        if self.drawn_in is None or self.drawn_in != _cell():
            _display(self)

    def __repr__(self) -> str:
        """For a terminal, and for the text that a notebook keeps beside the figure."""
        return self.says


def shown(output: CellOutput) -> CellOutput:
    """The figure, drawn already where this runs in a notebook: of several in one cell each is, not the last alone."""
    if (cell := _cell()) is None:
        return output
    _display(output)
    return replace(output, drawn_in=cell)


def _cell() -> int | None:
    """The number of the notebook's cell that runs; None where there is no notebook."""
    ipython: Any = sys.modules.get("IPython")
    kernel = None if ipython is None else ipython.get_ipython()
    return None if kernel is None or not hasattr(kernel, "kernel") else int(kernel.execution_count)


def _display(output: CellOutput) -> None:
    from IPython.display import display  # it is there, or nobody would ask

    display({"text/html": output.html, "text/plain": output.says}, raw=True)
