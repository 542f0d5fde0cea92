"""Small trees with the path to one leaf highlighted, as pictures whose colours work on light and dark."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from viz.svg import element
from viz.token_text import escaped

_WIDTH, _LEVEL, _TOP = 320, 42, 14
_WAY, _REST = "#6f70c4", "#8d8e94"
_TALL = 46  # height of a level with words in between
_LEAVES = 4  # leaves drawn per group, whatever its size
_EDGE = 16  # margin at the outermost leaves, whose words are wider than the leaves
_LEAST = 0.85  # smallest scale of a wide picture; beyond that it scrolls, as its words would become too small


@dataclass(frozen=True)
class DrawnNode:
    """``across`` in 0..1; ``up`` is the parent's index; ``beside`` is shown at a highlighted edge to it."""

    across: float
    level: int
    up: int | None
    beside: str
    below: Sequence[str]
    on_way: bool


def tree_html(nodes: Sequence[DrawnNode], label: str, *, width: int = _WIDTH) -> str:
    """Nodes placed below the root, with edges to those ``on_way`` highlighted; ``label`` is the caption."""
    depth, room = max(node.level for node in nodes), width - 2 * _EDGE
    parts: list[str] = []
    for node in nodes:
        x, y = _EDGE + room * node.across, _TOP + node.level * _TALL
        if node.up is not None:
            above = nodes[node.up]
            up = _EDGE + room * above.across
            parts.insert(0, _line(up, y - _TALL, x, y, on_way=node.on_way))
            if node.on_way:
                parts.append(_word((up + x) / 2 + (20 if x > up else -20), y - _TALL / 2, node.beside, on_way=True))
        parts.append(_node(x, y, on_way=node.on_way))
        parts += [_word(x, y + 20 + 14 * row, words, on_way=node.on_way) for row, words in enumerate(node.below)]
    return _picture(_document(parts, width, _TOP * 2 + depth * _TALL + 36), width, label)


def adaptive_tree_html(groups: Sequence[Sequence[str]], chosen: int, label: str) -> str:
    """The picture of ``adaptive_tree_svg`` with the caption ``label``."""
    return _picture(adaptive_tree_svg(groups, chosen), _WIDTH, label)


def adaptive_tree_svg(groups: Sequence[Sequence[str]], chosen: int) -> str:
    """The first group's leaves are attached to the root, other groups' to a node that is.

    The path to a leaf of group ``chosen`` is highlighted. A group's words are under its leaves. A standalone document.
    """
    parts, root = [_node(_WIDTH / 2, _TOP, on_way=True)], _WIDTH / 2
    for number, words in enumerate(groups):
        left, level = _WIDTH * number / len(groups), 2 if number else 1
        middle, y, here = left + _WIDTH / len(groups) / 2, _TOP + level * _LEVEL, number == chosen
        up = root
        if number:
            up = middle
            parts.insert(0, _line(root, _TOP, middle, y - _LEVEL, on_way=here))
            parts.append(_node(middle, y - _LEVEL, on_way=here))
        for place in range(_LEAVES):
            x, on_way = left + _WIDTH / len(groups) * (place + 0.5) / _LEAVES, here and place == 1
            parts.insert(0, _line(up, y - _LEVEL, x, y, on_way=on_way))
            parts.append(_node(x, y, on_way=on_way))
        for row, line in enumerate(words):
            parts.append(_word(middle, _TOP + 2 * _LEVEL + 24 + 15 * row, line, on_way=here))
    return _document(parts, _WIDTH, _TOP * 2 + 2 * _LEVEL + 15 * max(map(len, groups)) + 4)


def _line(x: float, y: float, x_end: float, y_end: float, *, on_way: bool) -> str:
    ends = {"x1": x, "y1": y, "x2": x_end, "y2": y_end}
    return element("line", **ends, stroke=_WAY if on_way else _REST, stroke_width=4 if on_way else 1.2)


def _node(x: float, y: float, *, on_way: bool) -> str:
    return element("circle", cx=x, cy=y, r=7 if on_way else 4.5, fill=_WAY if on_way else _REST)


def _word(x: float, y: float, words: str, *, on_way: bool) -> str:
    place = {"x": x, "y": y, "text_anchor": "middle", "font_size": 12, "font_family": "sans-serif"}
    return element("text", escaped(words), **place, fill=_WAY if on_way else _REST)


def _document(parts: Sequence[str], width: int, height: float) -> str:
    box = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return element("svg", *parts, **box, xmlns="http://www.w3.org/2000/svg")


def _picture(drawn: str, width: int, label: str) -> str:
    picture = f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"
    words = escaped(label)
    widest = "100%" if width <= _WIDTH else f"max(100%, {_LEAST * width:.0f}px)"
    return f"<img src='{picture}' alt='{words}' style='max-width:{widest}'><p class='atlas-caption'>{words}</p>"
