"""Small pictures of masks side by side, each with its name, as HTML. Independent of models.

Rows are queries, columns are keys; filled cells are visible, hatched ones are masked.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np

from viz.token_text import escaped

SIDE = 84  # px
FILL = "#7d77c7"  # visible on light and on dark
_LINES = (  # as in hatch.js, faint on light and on dark
    "<pattern id='l' width='8' height='8' patternUnits='userSpaceOnUse'>"
    "<path d='M-1 9L9 -1M-1 1L1 -1M7 9L9 7' stroke='#808080' stroke-opacity='.4' stroke-width='.8'/></pattern>"
    f"<rect width='{SIDE}' height='{SIDE}' fill='url(#l)'/>"
)


def mask_strip(masks: Sequence[np.ndarray], names: Sequence[str]) -> str:
    """Every mask [queries, keys] above its name. Strings are escaped here."""
    pictures = "".join(
        f"<figure style='margin:0;width:{SIDE + 26}px'>{_picture(mask, name)}"
        f"<figcaption class='atlas-caption'>{escaped(name)}</figcaption></figure>"
        for mask, name in zip(masks, names, strict=True)
    )
    return f"<div class='atlas-masks' style='display:flex;flex-wrap:wrap;gap:0.5rem;margin:0.3rem 0'>{pictures}</div>"


def runs(row: np.ndarray) -> list[tuple[int, int]]:
    """Start and stop of each visible run."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _picture(mask: np.ndarray, name: str) -> str:
    rows, columns = mask.shape
    path = "".join(
        f"M{start} {place}h{stop - start}v1h{start - stop}z"
        for place, row in enumerate(mask)
        for start, stop in runs(row)
    )
    svg = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {SIDE} {SIDE}'>{_LINES}"
        f"<path d='{path}' fill='{FILL}' transform='scale({SIDE / columns:g} {SIDE / rows:g})'/></svg>"
    )
    data = base64.b64encode(svg.encode()).decode("ascii")  # Streamlit (1.67) removes svg from HTML, but keeps images
    return (
        f"<img alt='{escaped(name)}' width='{SIDE}' height='{SIDE}' src='data:image/svg+xml;base64,{data}' "
        "style='outline:1px solid color-mix(in srgb, currentColor 35%, transparent)'>"
    )
