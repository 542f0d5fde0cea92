"""Every head as a thumbnail in one self-contained SVG: rows are layers, columns are heads.

For files and prints; on the screen the head_grid component draws the same. Independent of models.
"""

from __future__ import annotations

import base64
import io
import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from viz.color import sequential
from viz.figure_svg import cells_path
from viz.svg import FONT, LIGHT, MARGIN, document, element, lines_across, text

LARGEST, SMALLEST = 72, 16  # px of a thumbnail's side
GAP = 4  # between thumbnails
SIDE = 900  # approximate side of the whole picture


def grid_svg(
    thumbnails: NDArray[np.uint8],
    keep: NDArray[np.uint8],
    *,
    title: str,
    caption: str,
    left_out: NDArray[np.uint8] | None = None,
    room: float | None = None,
) -> str:
    """The grid as SVG; 255 in `thumbnails` [layers, heads, n, n] is darkest, 0 in `keep` [layers, n, n] is masked.

    Masked cells with 1 in `left_out` [layers, n, n] are masked because an indexer did not select their keys. With
    `room` it is at most that wide, in units of the file, as for a paper: title and caption are not drawn.
    """
    layers, heads = thumbnails.shape[:2]
    left, top = MARGIN + 34, MARGIN + (46 if room is None else 14)
    size = min(LARGEST, max(SMALLEST, SIDE // max(layers, heads, 1)))
    if room is not None:
        size = min(LARGEST, max(2.0, (room - left - MARGIN) / max(heads, 1) - GAP))
    pitch = size + GAP
    body = [
        lines_across("masked", LIGHT, name="atlas-masked"),
        lines_across("left_out", LIGHT, name="atlas-left-out") if left_out is not None else "",
    ]
    body += [
        _thumbnail(
            np.where(keep[layer] > 0, thumbnails[layer, head] / 255, np.nan),
            None if left_out is None else left_out[layer] > 0,
            left + head * pitch,
            y,
            size,
        )
        for layer in range(layers)
        for y in [top + layer * pitch]
        for head in range(heads)
    ]
    every = math.ceil(2.4 * FONT / pitch)
    names = [
        text(f"L{layer}", "quiet", x=left - 6, y=top + layer * pitch + size / 2 + 4, text_anchor="end")
        for layer in range(0, layers, math.ceil(FONT / pitch))
    ]
    names += [
        text(f"H{head}", "quiet", x=left + head * pitch + size / 2, y=top - 6, text_anchor="middle")
        for head in range(0, heads, every)
    ]
    width = max(420.0 if room is None else 0.0, left + heads * pitch + MARGIN)
    below = top + layers * pitch + 18
    return document([*body, *names], width=width, below=below, title=title, caption=caption, bare=room is not None)


def _thumbnail(values: np.ndarray, left_out: NDArray[np.bool_] | None, x: float, y: float, size: float) -> str:
    """One picture, enlarged here because not every SVG viewer supports image-rendering."""
    factor = max(1, math.ceil(2 * size / len(values)))
    picture = Image.fromarray(np.ascontiguousarray(sequential(values)))
    data = io.BytesIO()
    picture.resize((picture.width * factor, picture.height * factor), Image.Resampling.NEAREST).save(
        data, format="PNG", optimize=True
    )
    address = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode('ascii')}"
    lines = [
        element("path", d=cells_path(cells, x, y, size / len(values)), fill=f"url(#atlas-{kind})")
        for kind, cells in zip(("masked", "left-out"), _hatched(values, left_out), strict=True)
        if cells.any()
    ]
    picture_of = element("image", x=x, y=y, width=size, height=size, style="image-rendering:pixelated", href=address)
    return "".join(lines) + picture_of


def _hatched(values: np.ndarray, left_out: NDArray[np.bool_] | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The masked cells, and among them those whose keys were not selected."""
    masked = np.isnan(values)
    out = masked & (np.zeros_like(masked) if left_out is None else left_out)
    return masked & ~out, out
