"""Stages of a model as self-contained SVG, one row each, for files and prints. Independent of models.

On the screen the model_stages component draws the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from viz.svg import LIGHT, MARGIN, document, element, label, text

_WIDTH, _ROW = 1000, 24
_COLUMNS = (MARGIN + 18, MARGIN + 300, MARGIN + 560, MARGIN + 800)  # names, modules, shapes, sizes
_BAR = 70  # length for a share of 1
_INK = "#5151a7"

Stage = tuple[int, str, str, str, str, float | None]  # depth, title, module, shapes, size, share


def stages_svg(rows: Sequence[Stage], *, title: str, caption: str) -> str:
    """The rows from top to bottom, along the line of the residual stream."""
    top = MARGIN + 40
    body = [element("path", d=f"M{MARGIN + 5} {top}V{top + _ROW * len(rows)}", stroke=LIGHT.rule, stroke_width=2)]
    for place, (depth, name, module, shapes, size, share) in enumerate(rows):
        y = top + _ROW * (place + 0.5)
        body.append(element("rect", x=MARGIN + 1, y=y - 4, width=8, height=8, fill=_INK if depth == 0 else LIGHT.quiet))
        names, modules, forms, sizes = _COLUMNS
        body += [
            text(label(name, 20), "bold" if depth == 0 else "", x=names + 16 * depth, y=y + 4),
            text(label(module, 21), "quiet", x=modules, y=y + 4),
            text(label(shapes, 19), "quiet", x=forms, y=y + 4),
            text(size, "quiet", x=sizes + _BAR + 8, y=y + 4),
        ]
        if share:
            body.append(element("rect", x=sizes, y=y - 4, width=_BAR * min(1.0, share), height=8, fill=_INK))
    return document(body, width=_WIDTH, below=top + _ROW * len(rows) + 24, title=title, caption=caption)
