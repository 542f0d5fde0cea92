"""A figure in a notebook: a self-contained page in an iframe in the cell's output, without network or kernel.

Knows nothing about heads or models. The iframe separates the figure's names, styles and scripts from the notebook's and
other figures', and the page's own content security policy applies. In an untrusted notebook, which runs no scripts, the
iframe stays empty.
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

# The iframe follows the height of its page, which depends on the width. If a notebook prevents that, it keeps
# `CellOutput.height` and scrolls.
_FIT = (
    "const page=this.contentDocument.body;"
    "new ResizeObserver(()=>{this.style.height=page.offsetHeight+'px'}).observe(page)"
)


PAGE = ".html"
WRITERS: dict[str, Callable[[str], bytes]] = {".svg": str.encode, ".pdf": pdf_bytes, ".png": png_bytes}


@dataclass(frozen=True)
class CellOutput:
    """``page`` is a self-contained HTML page; ``says`` describes it in words; ``height`` is in CSS pixels.

    ``picture`` returns its SVG, for None as on the screen, otherwise at most that wide, in the file's units, as for a
    paper.
    """

    page: bytes = field(repr=False)
    says: str
    height: int
    picture: Callable[[float | None], str] = field(repr=False, compare=False)
    # execution count of the cell that drew it already
    drawn_in: int | None = field(default=None, repr=False, compare=False)

    def save(self, path: str | PathLike[str], *, size: str | None = None) -> None:
        """Write the figure to a .html, .svg, .pdf or .png file, replacing an existing one.

        ``size`` is "column" (3.3 inches), "page" (6.9) or "slide" (12): on white, without title and caption, no text
        below 7 points. Without a size, the figure is as on the screen. PDFs embed their fonts. Raises ValueError for
        another ending or size, or a figure too wide for the size; NoTypesetter; OSError.
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
        """The iframe with the page in it, for embedding in another page."""
        return (
            f'<iframe title="{escape(self.says)}" onload="{escape(_FIT)}" srcdoc="{escape(self.page.decode())}" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )

    def _repr_html_(self) -> str:
        """Jupyter's HTML representation."""
        return self.html

    def _ipython_display_(self) -> None:
        """IPython's display hook for a cell's value; shows nothing if :func:`shown` drew it in the same cell."""
        if self.drawn_in is None or self.drawn_in != _cell():
            _display(self)

    def __repr__(self) -> str:
        """Text for a terminal, which a notebook also stores beside the figure."""
        return self.says


def shown(output: CellOutput) -> CellOutput:
    """Draw the figure at once if this runs in a notebook, so that a cell can show several."""
    if (cell := _cell()) is None:
        return output
    _display(output)
    return replace(output, drawn_in=cell)


def _cell() -> int | None:
    """Execution count of the running notebook cell; None outside a notebook."""
    ipython: Any = sys.modules.get("IPython")
    kernel = None if ipython is None else ipython.get_ipython()
    return None if kernel is None or not hasattr(kernel, "kernel") else int(kernel.execution_count)


def _display(output: CellOutput) -> None:
    from IPython.display import display  # already imported, or nobody would call this

    display({"text/html": output.html, "text/plain": output.says}, raw=True)
