"""The token_lines component's payload as self-contained SVG: lines from query tokens to their keys."""

from __future__ import annotations

import numpy as np

from viz.color import palette
from viz.components.packing import unpack
from viz.svg import FONT, LIGHT, MARGIN, document, element, label, rgb, text
from viz.token_text import ems

ROW = 18  # units from one token to the next
LONGEST = 11.0  # em of a label
ACROSS, NARROWEST = 150, 40  # width of the lines, at most and at least
HEADING = 16  # height above the columns


def lines_svg(payload: bytes, *, title: str, caption: str, room: float | None = None) -> str:
    """The figure as on the screen: with a pinned query its lines are strong and the others faint.

    With `room` it is at most that wide, in units of the file, as for a paper: title and caption are not drawn.
    """
    meta, arrays = unpack(payload)
    queries, keys = meta["queries"], meta["keys"]
    bare = room is not None
    words_left = max(min(max(map(ems, queries), default=0), LONGEST + 1) * FONT, ems(meta["texts"]["queries"]) * 11)
    words_right = max(min(max(map(ems, keys), default=0), LONGEST + 1) * FONT, ems(meta["texts"]["keys"]) * 11)
    left = MARGIN + words_left + 8
    free = ACROSS if room is None else room - left - words_right - MARGIN - 8
    right = left + min(ACROSS, max(NARROWEST, free))
    top = MARGIN + (34 if title and not bare else 0) + HEADING
    colors = [palette()["sequential"]["light"][-1][1:], palette()["compare"]["light"]]
    pinned = None if meta["selected"] is None else meta["selected"] - meta["query_offset"]

    def middle(row: int) -> float:
        return top + (row + 0.5) * ROW

    lines = [
        element(
            "path",
            d=f"M{left:g} {middle(query):g}C{(left + right) / 2:g} {middle(query):g} "
            f"{(left + right) / 2:g} {middle(key):g} {right:g} {middle(key):g}",
            stroke=rgb(colors[nth]),
            stroke_width=1 + 2 * weight,
            stroke_opacity=round(weight if pinned in (None, query) else weight / 6, 4),
            fill="none",
        )
        for nth, weights in enumerate(arrays["weights"])
        for query, key in np.argwhere(np.nan_to_num(weights) >= meta["threshold"]).tolist()
        for weight in [float(min(1.0, weights[query, key]))]
    ]
    words = [
        text(label(word, LONGEST), "bold" if row == pinned else "", x=left - 6, y=middle(row) + 4, text_anchor="end")
        for row, word in enumerate(queries)
    ]
    words += [text(label(word, LONGEST), x=right + 6, y=middle(row) + 4) for row, word in enumerate(keys)]
    heads = element(
        "g",
        text(meta["texts"]["queries"], x=left - 6, y=top - 4, text_anchor="end", style=f"fill:{rgb(_ink('query'))}"),
        text(meta["texts"]["keys"], x=right + 6, y=top - 4, style=f"fill:{rgb(_ink('key'))}"),
        class_="axis",
    )
    width = right + 8 + words_right + MARGIN
    width = width if bare else max(width, 420, ems(title) * 15 + 2 * MARGIN)
    below = top + max(len(queries), len(keys)) * ROW + 22
    body = [*lines, *words, heads]
    return document(body, width=width, below=below, title=title, caption=caption, ink=LIGHT, bare=bare)


def _ink(name: str) -> list[int]:
    return palette()[name]["light"]
