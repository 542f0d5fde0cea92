"""A map of words as self-contained SVG, for files and prints: each cell is a word on its value's colour.

On the screen the layer_head_map component draws the same. Independent of models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viz.color import sequential
from viz.svg import FONT, LIGHT, MARGIN, document, element, label, lines_across, rgb, text

_WIDE, _HIGH = 84, 22  # of a cell
_DARK = 0.5  # share of the colour scale beyond which words are light


def word_map_svg(
    values: NDArray[np.floating],
    words: Sequence[Sequence[str]],
    *,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    low: float,
    high: float,
    title: str,
    caption: str,
) -> str:
    """The map as SVG; `values` [rows, columns] are coloured from `low` to `high`, clipped, NaN as masked."""
    if values.shape != (len(row_labels), len(col_labels)):
        raise ValueError(f"values of shape {values.shape} for {len(row_labels)} × {len(col_labels)} labels")
    share = np.clip((values - low) / ((high - low) or 1.0), 0, 1)
    colors = sequential(share)
    left, top = MARGIN + 96, MARGIN + 54
    body = [
        text(label(name, 9), "quiet", x=left - 8, y=top + i * _HIGH + _HIGH / 2 + 4, text_anchor="end")
        for i, name in enumerate(row_labels)
    ]
    body += [
        text(label(name, 7), "quiet", x=left + (j + 0.5) * _WIDE, y=top - 8, text_anchor="middle")
        for j, name in enumerate(col_labels)
    ]
    body += [lines_across("masked", LIGHT, name="atlas-masked")] if np.isnan(values).any() else []
    cells = ((i, j, word) for i, row in enumerate(words) for j, word in enumerate(row))
    for i, j, word in cells:
        x, y = left + j * _WIDE, top + i * _HIGH
        fill = "url(#atlas-masked)" if np.isnan(share[i, j]) else rgb(colors[i, j, :3].tolist())
        body.append(element("rect", x=x, y=y, width=_WIDE - 1, height=_HIGH - 1, fill=fill))
        ink = "#ffffff" if share[i, j] > _DARK else "#1a1c22"
        style = f"fill:{ink}"
        words_x, words_y = x + _WIDE / 2, y + _HIGH / 2 + FONT / 3
        body.append(text(label(word, 6.4), x=words_x, y=words_y, text_anchor="middle", style=style))
    width = max(420.0, left + len(col_labels) * _WIDE + MARGIN)
    below = top + len(row_labels) * _HIGH + 24
    return document(body, width=width, below=below, title=title, caption=caption)
