"""Figures on positions as self-contained SVG, for files and prints: pairs in dials, and lines in small panels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.token_text import escaped, wrapped

_MARGIN = 20
_WIDTH = 1000
_FONT = "system-ui,-apple-system,'Segoe UI','Noto Sans',sans-serif"
_INK = {"background": "#fcfcfa", "text": "#1a1c22", "quiet": "#6c6d71", "rule": "#d9d9d4", "line": "#36339a"}


def dials_svg(
    q: NDArray[np.floating],
    k: NDArray[np.floating],
    angles: NDArray[np.floating],
    theta: NDArray[np.floating],
    *,
    title: str,
    caption: str,
) -> str:
    """`q` and `k` [pairs, 2] before the rotation as thin arrows and, turned by `angles`, as thick ones.

    Each kind is drawn to the length of its own longest pair; labels are the frequencies `theta`.
    """
    columns = min(len(theta), 8 if len(theta) <= 32 else 16)
    pitch = (_WIDTH - 2 * _MARGIN) / columns
    radius = pitch / 2 - 8
    top = _MARGIN + 36
    body: list[str] = []
    for i, (angle, frequency) in enumerate(zip(angles.tolist(), theta.tolist(), strict=True)):
        x = _MARGIN + (i % columns + 0.5) * pitch
        y = top + (i // columns) * (pitch + 16) + radius
        body.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:.2f}" fill="none" stroke="{_INK["rule"]}"/>')
        for name, vectors in (("key", k), ("query", q)):
            longest = float(np.linalg.norm(vectors, axis=1).max()) or 1.0
            color = f"rgb{tuple(palette()[name]['light'])}"
            body.append(_arrow(x, y, vectors[i] / longest * radius, 0.0, color, 1, 0.45))
            body.append(_arrow(x, y, vectors[i] / longest * radius, angle, color, 2.2, 1))
        body.append(_text(x, y + radius + 15, f"θ {frequency:.3g}", "middle", quiet=True))
    bottom = top + math.ceil(len(theta) / columns) * (pitch + 16)
    return _document("".join(body), bottom, title, caption)


def panels_svg(
    labels: Sequence[str],
    panels: Sequence[NDArray[np.floating]] | NDArray[np.floating],
    *,
    title: str,
    caption: str,
    shared: bool = True,
) -> str:
    """One panel a label: its lines [lines, points] over 0, 1, 2, …; `shared` gives all the same span of values."""
    columns = min(len(labels), 4)
    pitch = (_WIDTH - 2 * _MARGIN) / columns
    width, height, top = pitch - 64, 110, _MARGIN + 50
    spans = [float(np.ptp(panel)) for panel in panels]
    body: list[str] = []
    for i, (label, panel) in enumerate(zip(labels, panels, strict=True)):
        left, y = _MARGIN + 46 + (i % columns) * pitch, top + (i // columns) * (height + 58)
        span = (max(spans) if shared else spans[i]) or 1.0
        middle = (float(panel.min()) + float(panel.max())) / 2
        low, high = middle - span * 0.54, middle + span * 0.54
        body.append(_text(left, y - 8, label, "start", bold=True))
        body.append(
            f'<rect x="{left:g}" y="{y:g}" width="{width:g}" height="{height}" fill="none" stroke="{_INK["rule"]}"/>'
        )
        for value, at in ((high, y + 10), (low, y + height)):
            body.append(_text(left - 6, at, f"{value:.3g}".replace("-", "\u2212"), "end", quiet=True))
        for place, anchor in ((0, "start"), (panel.shape[1] - 1, "end")):
            body.append(_text(left + (width if place else 0), y + height + 16, str(place), anchor, quiet=True))
        for line in panel:
            points = " ".join(
                f"{left + width * j / max(1, len(line) - 1):.1f},{y + height * (high - value) / (high - low):.1f}"
                for j, value in enumerate(line.tolist())
            )
            body.append(f'<polyline points="{points}" fill="none" stroke="{_INK["line"]}" stroke-width="1.4"/>')
    return _document("".join(body), top + math.ceil(len(labels) / columns) * (height + 58), title, caption)


def _arrow(
    x: float, y: float, vector: NDArray[np.floating], angle: float, color: str, width: float, opacity: float
) -> str:
    """From the dial's centre; up is the second coordinate, a positive angle turns against the clock."""
    length = float(np.hypot(*vector))
    direction = math.atan2(float(vector[1]), float(vector[0])) + angle
    dx, dy = math.cos(direction), -math.sin(direction)
    head = min(7.0, length * 0.6)
    tip = x + dx * length, y + dy * length
    sides = [(tip[0] - dx * head + s * dy * head * 0.45, tip[1] - dy * head - s * dx * head * 0.45) for s in (1, -1)]
    triangle = " ".join(f"{a:.2f},{b:.2f}" for a, b in [tip, *sides])
    stem = f"M{x:.2f} {y:.2f}L{x + dx * (length - head * 0.7):.2f} {y + dy * (length - head * 0.7):.2f}"
    return (
        f'<g opacity="{opacity:g}"><path d="{stem}" stroke="{color}" stroke-width="{width:g}"/>'
        f'<polygon points="{triangle}" fill="{color}"/></g>'
    )


def _text(x: float, y: float, text: str, anchor: str, *, quiet: bool = False, bold: bool = False) -> str:
    kind = "quiet" if quiet else "bold" if bold else ""
    return f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" class="{kind}">{escaped(text)}</text>'


def _document(body: str, bottom: float, title: str, caption: str) -> str:
    lines = [line for part in caption.splitlines() for line in wrapped(part, (_WIDTH - 2 * _MARGIN) / 11)]
    captions = "".join(_text(_MARGIN, bottom + 16 + 16 * i, line, "start", quiet=True) for i, line in enumerate(lines))
    height = bottom + 16 * len(lines) + _MARGIN
    style = (
        f"text{{font:12px {_FONT};fill:{_INK['text']}}}.quiet{{font-size:11px;fill:{_INK['quiet']}}}"
        ".bold{font-weight:600}.title{font-size:15px;font-weight:600}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}" role="img"><title>{escaped(title)}</title>'
        f"<desc>{escaped(caption)}</desc><style>{style}</style>"
        f'<rect width="100%" height="100%" fill="{_INK["background"]}"/>'
        f'<text class="title" x="{_MARGIN}" y="{_MARGIN + 14}">{escaped(title)}</text>{body}{captions}</svg>\n'
    )
