"""Export of the page Inside a cell: the seven steps as a page, their numbers, and Python code."""

from __future__ import annotations

import math

import pandas as pd

from analysis.cell import Cell, Push
from analysis.number_text import significant
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shell.page import PageContext
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.cell_svg import KeyWeight, VectorBars, cell_svg
from viz.components.cell_steps import cell_steps

DRAWN = 16  # keys in the picture


def cell_view(opened: PageContext, found: Cell, payload: bytes) -> ExportBundle:
    """The seven steps."""
    row, title = found.row, f"L{found.layer}H{found.head}"
    vectors = {name: getattr(found, name) for name in ("q", "k", "product", "v", "mixed", "output", "passed_on")}
    rows = {name: getattr(row, name) for name in ("dots", "scores", "keep", "weights", "contributions")}
    return ExportBundle(
        name=f"cell-{title}-{found.query}-{found.key}",
        title=title,
        what=f"query {found.query}, key {found.key}, weights after softmax",
        tables=lambda: _tables(opened, found),
        page=component_page(cell_steps.SOURCE, payload),
        picture=lambda title, words: _picture(opened, found, title, words),
        arrays=vectors | rows,
        code=snippet(found),
    )


def _picture(opened: PageContext, found: Cell, title: str, words: str) -> str:
    """The picture: as many keys as fit, including the cell's own."""
    names = [f"{position} {token.text}" for position, token in enumerate(opened.capture.tokens)]
    query, key = names[found.query], names[found.key]
    most = [position for position in found.row.top if position != found.key][: DRAWN - 1]
    return cell_svg(
        [
            VectorBars(f"q · {query}", found.q, "query"),
            VectorBars(f"k · {key}", found.k, "key"),
            VectorBars("q × k", found.product),
        ],
        _sums(found),
        [
            KeyWeight(names[i], float(found.row.weights[i]), number(found.row.weights[i], "share"), i == found.key)
            for i in sorted([*most, found.key])
        ],
        [VectorBars(f"v · {key}", found.v, "key"), VectorBars("Σ w · v", found.mixed)],
        title=title,
        caption=words,
    )


def _sums(found: Cell) -> list[str]:
    """From the dot product to the weight, in this cell's numbers."""

    def digits(value: float | None) -> str:
        return significant(math.nan if value is None else value, 4)

    scaled = f"{digits(found.dot)} × {digits(found.scale)} = {digits(found.scaled)}"
    capped = []
    if found.softcap is not None:
        capped = [f"{digits(found.softcap)} · tanh({digits(found.scaled)} / {digits(found.softcap)}) = "]
        capped[0] += digits(found.capped)
    biased = [] if found.bias is None else [f"{digits(found.capped)} + {digits(found.bias)} = {digits(found.score)}"]
    weight = f"exp({digits(found.score)} − {digits(found.row.lse)}) = {number(found.weight, 'share')}"
    visible = [*biased, weight] if found.visible else [_("masked")]
    lines = [f"q · k = {digits(found.dot)}", scaled, *capped, *visible]
    return [line.replace("-", "−") for line in lines]


def _tables(opened: PageContext, found: Cell) -> dict[str, pd.DataFrame]:
    """The row of keys and the two vectors as tables, by heading."""
    row, title = found.row, f"L{found.layer}H{found.head}"
    keys = [f"{position} {token.text}" for position, token in enumerate(opened.capture.tokens[: len(row.weights)])]
    columns = {"q·k": row.dots, "score": row.scores, "weight": row.weights, "‖w·v‖": row.contributions}
    return {
        f"{title} · {_('Query (looking)')} {found.query}": pd.DataFrame(columns, index=keys),
        f"{title} · {_('Key (looked at)')} {found.key}": pd.DataFrame(
            {"q": found.q, "k": found.k, "q × k": found.product}, index=[str(i) for i in range(len(found.q))]
        ),
    }


def snippet(found: Cell) -> str:
    """The same numbers through the public API."""
    layer, head, kv_head, query, key = found.layer, found.head, found.kv_head, found.query, found.key
    lines = [
        f"q, k = capture.q({layer})[{head}, {query}], capture.k({layer})[{kv_head}, {key}]",
        "dot = (q.double() * k.double()).sum()",
        f"scores = capture.scores({layer}, {head})[{query}]  # scaled by {found.scale:.6g}, masked",
        f"weights = (scores - capture.lse({layer})[{head}, {query}]).exp()",
        f"output = weights @ capture.v({layer})[{kv_head}].float()",
    ]
    if found.changed:
        lines.append(f"passed_on = capture.record({layer}).head_output_edited[{query}, {head}]  # as the edits left it")
    if isinstance(found.push, Push):
        lines.append(f"added = capture.direct_logits({layer}, {head}, {query})  # in logits, for every token")
    return "\n".join(["", *lines])
