"""Figures about positions as self-contained SVG, for files and prints: pairs in dials, and lines in small panels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.svg import LIGHT, MARGIN, document, element, rgb, text

_WIDTH = 1000
_LINE = "#36339a"


def dials_svg(
    q: NDArray[np.floating],
    k: NDArray[np.floating],
    angles: NDArray[np.floating],
    theta: NDArray[np.floating],
    *,
    title: str,
    caption: str,
) -> str:
    """`q` and `k` [pairs, 2] before the rotation as thin arrows and, rotated by `angles`, as thick ones.

    Each kind is scaled to its own longest pair; labels are the frequencies `theta`.
    """
    columns = min(len(theta), 8 if len(theta) <= 32 else 16)
    pitch = (_WIDTH - 2 * MARGIN) / columns
    radius = pitch / 2 - 8
    top = MARGIN + 36
    body: list[str] = []
    for i, (angle, frequency) in enumerate(zip(angles.tolist(), theta.tolist(), strict=True)):
        x = MARGIN + (i % columns + 0.5) * pitch
        y = top + (i // columns) * (pitch + 16) + radius
        body.append(element("circle", cx=x, cy=y, r=radius, fill="none", stroke=LIGHT.rule))
        for name, vectors in (("key", k), ("query", q)):
            longest = float(np.linalg.norm(vectors, axis=1).max()) or 1.0
            color = rgb(palette()[name]["light"])
            body.append(_arrow(x, y, vectors[i] / longest * radius, 0.0, color, 1, 0.45))
            body.append(_arrow(x, y, vectors[i] / longest * radius, angle, color, 2.2, 1))
        body.append(text(f"θ {frequency:.3g}", "quiet", x=x, y=y + radius + 15, text_anchor="middle"))
    bottom = top + math.ceil(len(theta) / columns) * (pitch + 16)
    return document(body, width=_WIDTH, below=bottom + 16, title=title, caption=caption, room=4)


def panels_svg(
    labels: Sequence[str],
    panels: Sequence[NDArray[np.floating]] | NDArray[np.floating],
    *,
    title: str,
    caption: str,
    shared: bool = True,
) -> str:
    """One panel per label: its lines [lines, points] over 0, 1, 2, …; `shared` uses one vertical scale."""
    columns = min(len(labels), 4)
    pitch = (_WIDTH - 2 * MARGIN) / columns
    width, height, top = pitch - 64, 110, MARGIN + 50
    spans = [float(np.ptp(panel)) for panel in panels]
    body: list[str] = []
    for i, (label, panel) in enumerate(zip(labels, panels, strict=True)):
        left, y = MARGIN + 46 + (i % columns) * pitch, top + (i // columns) * (height + 58)
        span = (max(spans) if shared else spans[i]) or 1.0
        middle = (float(panel.min()) + float(panel.max())) / 2
        low, high = middle - span * 0.54, middle + span * 0.54
        body.append(text(label, "bold", x=left, y=y - 8))
        body.append(element("rect", x=left, y=y, width=width, height=height, fill="none", stroke=LIGHT.rule))
        for value, at in ((high, y + 10), (low, y + height)):
            number = f"{value:.3g}".replace("-", "\u2212")
            body.append(text(number, "quiet", x=left - 6, y=at, text_anchor="end"))
        for place, anchor in ((0, "start"), (panel.shape[1] - 1, "end")):
            x = left + (width if place else 0)
            body.append(text(str(place), "quiet", x=x, y=y + height + 16, text_anchor=anchor))
        for line in panel:
            points = " ".join(
                f"{left + width * j / max(1, len(line) - 1):.1f},{y + height * (high - value) / (high - low):.1f}"
                for j, value in enumerate(line.tolist())
            )
            body.append(element("polyline", points=points, fill="none", stroke=_LINE, stroke_width=1.4))
    below = top + math.ceil(len(labels) / columns) * (height + 58) + 16
    return document(body, width=_WIDTH, below=below, title=title, caption=caption, room=4)


def _arrow(
    x: float, y: float, vector: NDArray[np.floating], angle: float, color: str, width: float, opacity: float
) -> str:
    """An arrow from the dial's centre; the second coordinate points up, positive angles turn counterclockwise."""
    length = float(np.hypot(*vector))
    direction = math.atan2(float(vector[1]), float(vector[0])) + angle
    dx, dy = math.cos(direction), -math.sin(direction)
    head = min(7.0, length * 0.6)
    tip = x + dx * length, y + dy * length
    sides = [(tip[0] - dx * head + s * dy * head * 0.45, tip[1] - dy * head - s * dx * head * 0.45) for s in (1, -1)]
    triangle = " ".join(f"{a:.2f},{b:.2f}" for a, b in [tip, *sides])
    stem = f"M{x:.2f} {y:.2f}L{x + dx * (length - head * 0.7):.2f} {y + dy * (length - head * 0.7):.2f}"
    return element(
        "g",
        element("path", d=stem, stroke=color, stroke_width=width),
        element("polygon", points=triangle, fill=color),
        opacity=opacity,
    )
