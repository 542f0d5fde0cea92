"""What the page Inside a cell gives away: the seven steps as a page, their numbers, and the code that gives them."""

from __future__ import annotations

import numpy as np

from analysis.cell import Cell, Push
from ui.page import Opened
from ui.take_away import TakeAway, caption, python_start, show_take_away
from viz.components.cell_steps import cell_steps
from viz.export import csv_bytes, npz_bytes, standalone_html


def take_cell_away(opened: Opened, found: Cell, payload: bytes) -> None:
    """The menu of the page."""
    row, title = found.row, f"L{found.layer}H{found.head}"
    words = caption(opened, f"query {found.query}, key {found.key}, weights after softmax")
    columns = {"q·k": row.dots, "score": row.scores, "weight": row.weights, "‖weight·v‖": row.contributions}
    labels = [f"{position} {token.text}" for position, token in enumerate(opened.capture.tokens)]
    vectors = {name: getattr(found, name) for name in ("q", "k", "product", "v", "mixed", "output", "passed_on")}
    rows = {name: getattr(row, name) for name in ("dots", "scores", "keep", "weights", "contributions")}
    show_take_away(
        TakeAway(
            name=f"cell-{title}-{found.query}-{found.key}",
            html=lambda lang: standalone_html(cell_steps.SOURCE, payload, title=title, caption=words, lang=lang),
            csv=lambda: csv_bytes(np.stack(list(columns.values()), axis=1), labels, list(columns), words),
            npz=lambda: npz_bytes(vectors | rows, words),
            snippet=snippet(opened, found),
        )
    )


def snippet(opened: Opened, found: Cell) -> str:
    """The same numbers over the public API."""
    layer, head, kv_head, query, key = found.layer, found.head, found.kv_head, found.query, found.key
    lines = [
        f"q, k = capture.q({layer})[{head}, {query}], capture.k({layer})[{kv_head}, {key}]",
        "dot = (q.double() * k.double()).sum()",
        f"scores = capture.scores({layer}, {head})[{query}]  # scaled by {found.scale:.6g}, masked",
        f"weights = (scores - capture.lse({layer})[{head}, {query}]).exp()",
        f"output = weights @ capture.v({layer})[{kv_head}].float()",
    ]
    if found.changed:
        lines.append(
            f"passed_on = capture.record({layer}).passed_on[{query}, {head}]  # the output, as the edits left it"
        )
    if isinstance(found.push, Push):
        lines.append(f"push = capture.head_push({layer}, {head}, {query})  # in logits, for every token")
    return "\n".join([python_start(opened), *lines])
