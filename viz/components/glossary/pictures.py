"""The glossary's small pictures: SVG elements with their attributes, on 120 × 60."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from viz.components.picture import TypeScript

Shape = Annotated[tuple[str, dict[str, str]], TypeScript("Shape")]  # an SVG element and its attributes


def _rect(x: float, y: float, width: float, height: float, kind: str) -> Shape:
    return "rect", {"x": f"{x:g}", "y": f"{y:g}", "width": f"{width:g}", "height": f"{height:g}", "class": kind}


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Shape:
    return "line", {"x1": f"{x1:g}", "y1": f"{y1:g}", "x2": f"{x2:g}", "y2": f"{y2:g}", "class": kind}


def _triangle(kinds: Sequence[str]) -> tuple[Shape, ...]:
    """Five causal rows; ``kinds`` are the cells of the last one, the others are faint."""
    cells = [_rect(35 + 10 * k, 5 + 10 * q, 9, 9, "faint") for q in range(4) for k in range(q + 1)]
    return (*cells, *(_rect(35 + 10 * k, 45, 9, 9, kind) for k, kind in enumerate(kinds)))


LOOK = _triangle(("faint", "strong", "faint", "faint", "faint"))
_HIDDEN = tuple(_rect(35 + 10 * k, 5 + 10 * q, 9, 9, "out") for q in range(5) for k in range(q + 1, 5))
MASK = (*_triangle(("faint",) * 5), *_HIDDEN)
BARS = tuple(_rect(20 + 18 * i, 50 - height, 12, height, "strong") for i, height in enumerate((5, 42, 3, 12, 1)))
TURN = (
    ("circle", {"cx": "60", "cy": "30", "r": "24", "class": "ring"}),
    _line(60, 30, 84, 30, "faint-line"),
    _line(60, 30, 77, 13, "query-line"),
)
GROUP = (
    *(_rect(14 + 24 * i, 8, 18, 12, "query") for i in range(4)),
    *(_rect(26 + 48 * i, 40, 18, 12, "key") for i in range(2)),
    *(_line(23 + 24 * i, 20, 35 + 48 * (i // 2), 40, "faint-line") for i in range(4)),
)
STREAM = (
    _line(8, 45, 112, 45, "key-line"),
    *(_rect(24 + 40 * i, 10, 24, 16, "faint") for i in range(2)),
    *(_line(30 + 40 * i, 45, 30 + 40 * i, 26, "faint-line") for i in range(2)),
    *(_line(42 + 40 * i, 26, 42 + 40 * i, 45, "query-line") for i in range(2)),
)
