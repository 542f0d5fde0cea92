"""A figure as a notebook shows it: a page of its own inside the cell's output, that asks no network and no kernel.

Knows nothing about heads or models. In a frame the figure's names, styles and scripts meet neither the notebook's nor
another figure's, and the page's own content security policy holds. A notebook runs it as it runs any output with a
script: in one that is not trusted, the frame stays empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

# The frame follows the height of its page, which depends on the width. Where a notebook keeps this from running, the
# frame stays as high as `CellOutput.height` and scrolls.
_FIT = (
    "const page=this.contentDocument.body;"
    "new ResizeObserver(()=>{this.style.height=page.offsetHeight+'px'}).observe(page)"
)


@dataclass(frozen=True)
class CellOutput:
    """``page`` is a whole HTML page that needs no network; ``says`` tells it in words; ``height`` is in CSS pixels."""

    page: bytes = field(repr=False)
    says: str
    height: int

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

    def __repr__(self) -> str:
        """For a terminal, and for the text that a notebook keeps beside the figure."""
        return self.says
