"""A small binary tree with the way to one of its leaves, as a picture in colours that read on light and dark."""

from __future__ import annotations

import base64

from viz.svg import element
from viz.token_text import escaped

_WIDTH, _LEVEL, _TOP = 320, 42, 14
_WAY, _REST = "#6f70c4", "#8d8e94"


def tree_html(leaves: int, chosen: int, label: str) -> str:
    """A balanced tree of so many leaves, the way to the ``chosen`` one thick; ``label`` stands under it."""
    depth = (leaves - 1).bit_length()
    parts: list[str] = []
    for level in range(depth + 1):
        for place in range(2**level):
            on_way = place == chosen >> (depth - level)
            x, y = _WIDTH * (place + 0.5) / 2**level, _TOP + level * _LEVEL
            color = _WAY if on_way else _REST
            if level:
                up = _WIDTH * (place // 2 + 0.5) / 2 ** (level - 1)
                line = {"x1": up, "y1": y - _LEVEL, "x2": x, "y2": y, "stroke": color}
                parts.insert(0, element("line", **line, stroke_width=4 if on_way else 1.2))
            parts.append(element("circle", cx=x, cy=y, r=7 if on_way else 4.5, fill=color))
    height = _TOP * 2 + depth * _LEVEL
    box = {"viewBox": f"0 0 {_WIDTH} {height}", "width": _WIDTH, "height": height}
    drawn = element("svg", *parts, **box, xmlns="http://www.w3.org/2000/svg")
    picture = f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"
    words = escaped(label)
    return f"<img src='{picture}' alt='{words}' style='max-width:100%'><p class='atlas-caption'>{words}</p>"
