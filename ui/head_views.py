"""The parts of the Heads page: view-models into components, and what they send back into the session's place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from analysis.head_grid import HeadGrid
from analysis.head_map import PIXELS, HeadMap, Reading, Window, clip_window, head_map
from analysis.units import Unit
from attention.metrics import METRICS, Metric
from ui import session
from ui.components import mount
from ui.i18n import _
from ui.page import Opened, translated
from ui.tables import labelled
from ui.wording import joined, number
from viz.components.head_map import head_map as map_component
from viz.components.token_lines import token_lines

N_ = str  # marks a text for Babel without translating it here

LINES = 64  # tokens drawn in the line view of a long text
OVERVIEW = 48  # pixels on a side of the whole map beside a zoomed one
LOG_DECADES = 4  # of the logarithmic colour scale

MAP_TEXTS = {
    "cell": N_("{query} looks {value} at {key}"),
    "masked": N_("{query} cannot see {key}"),
    "masked_label": N_("masked"),
    "pooled": N_("largest of {n} cells: {value}"),
    "pooled_mean": N_("mean of {n} cells: {value}"),
    "pooled_note": N_("Each pixel stands for several cells and shows the largest. Zoom in for single cells."),
    "pooled_mean_note": N_("Each pixel stands for several cells and shows their mean. Zoom in for single cells."),
    "axis_query": N_("looking (query)"),
    "axis_key": N_("looked at (key)"),
    "zoom_in": N_("zoom in"),
    "zoom_out": N_("zoom out"),
    "zoom_reset": N_("whole text"),
    "undefined": N_("masked"),
    "percent": N_("{number} %"),
}


def show_heading(opened: Opened, grid: HeadGrid, metric: Metric) -> None:
    """The open head's name and what it does, in numbers."""
    shown = [metric] if metric.name == "entropy" else [metric, by_name()["entropy"]]
    values = [(_(item.label), number(grid.metrics[item.name][opened.layer, opened.head], item.unit)) for item in shown]
    facts = " · ".join(f"{escape(label)} {value}" for label, value in values)
    st.html(f"<div class='atlas-head'><b>L{opened.layer}H{opened.head}</b> <span>{facts}</span></div>", width="stretch")


def show_definition(metric: Metric) -> None:
    """What the metric counts, in a line, and who defined it."""
    st.html(f"<p class='atlas-caption'>{escape(_(metric.definition))} ({escape(metric.source)})</p>", width="stretch")


def by_name() -> dict[str, Metric]:
    """The table of metrics by name."""
    return {metric.name: metric for metric in METRICS}


def read_head(opened: Opened, reading: Reading, other: tuple[int, int] | None) -> HeadMap:
    """The window in view of the head, or of its difference from the other head."""
    place = session.place().window
    return _read(opened, reading, other, Window(*place) if place is not None else None, PIXELS)


def _read(
    opened: Opened, reading: Reading, other: tuple[int, int] | None, window: Window | None, pixels: int
) -> HeadMap:
    first = head_map(opened.capture, opened.layer, opened.head, reading=reading, window=window, pixels=pixels)
    if other is None:
        return first
    second = head_map(opened.capture, *other, reading=reading, window=window, pixels=pixels)
    return HeadMap(first.values - second.values, first.window, first.units, first.pool, first.how)


@dataclass(frozen=True)
class Scale:
    """The colour scale of a map, as the component and the exports take it."""

    scale: Literal["sequential", "diverging"]
    low: float
    high: float
    log: bool
    number: Literal["percent", "plain"]


def scale_of(view: HeadMap, reading: Reading, *, log: bool, other: tuple[int, int] | None) -> Scale:
    """Weights run from 0 to 1, so that pictures compare; signed values around 0; the rest to the largest in view."""
    unit = "percent" if reading.what == "weights" else "plain"
    high = max(view.largest, 1e-9)
    if reading.what == "scores" or other is not None:
        return Scale("diverging", -high, high, False, unit)
    high = 1.0 if reading.what == "weights" else high
    return Scale("sequential", high * 10.0**-LOG_DECADES if log else 0.0, high, log, unit)


def map_payload(
    opened: Opened,
    view: HeadMap,
    reading: Reading,
    scale: Scale,
    other: tuple[int, int] | None,
    *,
    max_height: int = 520,
    press: bool = False,
) -> bytes:
    """The head's map for its component."""
    window, units = view.window, view.units
    pooled = view.how != "exact"
    zoomed = window != clip_window(None, len(units))
    texts = translated(MAP_TEXTS)
    if view.how == "mean":
        texts |= {"pooled": texts["pooled_mean"], "pooled_note": texts["pooled_mean_note"]}
    return map_component.payload(
        values=view.values,
        window=(window.q0, window.q1, window.k0, window.k1),
        total=(len(units), len(units)),
        row_labels=[] if pooled else [unit.label for unit in units[window.q0 : window.q1]],
        col_labels=[] if pooled else [unit.label for unit in units[window.k0 : window.k1]],
        **asdict(scale),
        selected=_pinned(opened, units),
        pool=view.pool,
        overview=_read(opened, reading, other, None, OVERVIEW).values if zoomed else None,
        texts=texts | {"summary": summary(opened), "note": _note(opened, reading, other)},
        max_height=max_height,
        press=press,
    )


def show_map(view: HeadMap, payload: bytes) -> None:
    """The map; a click pins a cell, zooming asks for the window."""
    mount(map_component.SOURCE, payload, key="head_map", on=map_events(view))


def map_events(view: HeadMap) -> dict[str, Callable[[Any], None]]:
    """What a map can send, and what it does to the session's place."""
    units = view.units

    def pin(cell: list[int | None] | None) -> None:
        query, key = cell if cell is not None else (None, None)
        session.move(
            query=None if query is None else units[query].stop - 1, key=None if key is None else units[key].stop - 1
        )

    def zoom(edges: list[int] | None) -> None:
        whole = edges is None or list(edges) == [0, len(units), 0, len(units)]
        session.move(window=None if whole or edges is None else tuple(map(int, edges)))

    return {"cell": pin, "window": zoom}


def _pinned(opened: Opened, units: tuple[Unit, ...]) -> tuple[int, int | None] | None:
    def unit_of(token: int) -> int:
        return next(i for i, unit in enumerate(units) if token < unit.stop)

    if opened.query is None:
        return None
    return unit_of(opened.query), None if opened.key is None else unit_of(opened.key)


def strongest_key(opened: Opened) -> tuple[int, int, float] | None:
    """The pinned query, the key pinned or looked at most, and the weight; None where no query is pinned."""
    if opened.query is None:
        return None
    row = opened.capture.weights(opened.layer, opened.head, queries=slice(opened.query, opened.query + 1))[0]
    key = int(row.argmax()) if opened.key is None else opened.key
    return opened.query, key, float(row[key])


def summary(opened: Opened) -> str:
    """One sentence for screen readers and captions: "L3H1: ·it (7) looks 62 % at ·dog (2)"."""
    name, found = f"L{opened.layer}H{opened.head}", strongest_key(opened)
    if found is None:
        return name
    query, key, weight = found
    tokens = opened.capture.tokens
    return _("{head}: {query} ({query_index}) looks {value} at {key} ({key_index})").format(
        head=name, query=tokens[query].text, query_index=query, value=number(weight, "share"),
        key=tokens[key].text, key_index=key,
    )  # fmt: skip


def _note(opened: Opened, reading: Reading, other: tuple[int, int] | None) -> str:
    """What was done to the numbers; part of the figure, so that a copy of it says so too."""
    parts = []
    if other is not None:
        parts.append(_("L{a}H{b} minus L{c}H{d}: blue where the other looks more, red where this one does.").format(
            a=opened.layer, b=opened.head, c=other[0], d=other[1]))  # fmt: skip
    if reading.what == "value":
        parts.append(_("Weight × length of the value vector it carries."))
    if reading.what == "scores":
        parts.append(_("Scores before the softmax, scaled and masked."))
    if reading.hide_first and reading.what != "scores":
        parts.append(_("First token hidden, each row renormalised over the others."))
    if reading.words and reading.what != "scores":
        parts.append(_("Words: summed over the tokens looked at, averaged over the tokens looking."))
    return joined(*parts)


def show_caption(opened: Opened, reading: Reading, other: tuple[int, int] | None) -> None:
    """How to read the map, and what it says of the pinned query."""
    how = _("Each row is a token looking back; the stronger the colour, the more it looks at the token of that column.")
    if reading.what == "scores":
        how = _("Each row is a token looking back; red cells score high, blue ones low, before the softmax.")
    if other is not None:
        how = _("Each row is a token looking back; the colour is the difference of the two heads.")
    st.html(f"<p class='atlas-caption'>{joined(escape(how), _pinned_sentence(opened))}</p>")


def _pinned_sentence(opened: Opened) -> str:
    found = strongest_key(opened)
    if found is None:
        return escape(_("Click a cell or a token to pin it."))
    query, key, weight = found
    tokens = opened.capture.tokens
    return _("Pinned: {query} looks {value} at {key}.").format(
        query=f"<span class='atlas-q'><bdi>{escape(tokens[query].text)}</bdi> ({query})</span>",
        value=f"<b>{number(weight, 'share')}</b>",
        key=f"<span class='atlas-k'><bdi>{escape(tokens[key].text)}</bdi> ({key})</span>",
    )


def show_lines(opened: Opened, other: tuple[int, int] | None) -> None:
    """The same weights as lines; of a long text, the tokens around the pinned one."""
    n_tokens = len(opened.capture.tokens)
    centre = n_tokens - 1 if opened.query is None else opened.query
    start = max(0, min(centre - LINES * 3 // 4, n_tokens - LINES))
    span = slice(start, min(n_tokens, start + LINES))
    heads = [(opened.layer, opened.head), *([other] if other is not None else [])]
    weights = [opened.capture.weights(*head, queries=span, keys=span).cpu().numpy() for head in heads]
    labels = [token.text for token in opened.capture.tokens[span]]
    payload = token_lines.payload(
        queries=labels,
        keys=labels,
        query_offset=start,
        key_offset=start,
        weights=np.stack(weights).astype(np.float32),
        head_labels=[f"L{layer}H{head}" for layer, head in heads],
        selected=opened.query if opened.query is not None and span.start <= opened.query < span.stop else None,
        texts=translated(token_lines.TEXTS),
        max_height=520,
    )
    mount(token_lines.SOURCE, payload, key="token_lines", on={"query": lambda q: session.move(query=q, key=None)})


def head_counts(opened: Opened) -> list[tuple[int, int]]:
    """(layer, number of heads) of every layer with softmax attention."""
    capture = opened.capture
    return [(layer, len(capture.q(layer))) for layer in range(capture.n_layers) if capture.has_weights(layer)]


def tables_of(opened: Opened, grid: HeadGrid, metric: Metric, view: HeadMap) -> dict[str, pd.DataFrame]:
    """The map in view and the grid's metric, by heading."""
    window, (rows, columns) = view.window, view.pool
    looking = {unit.start: unit.label for unit in view.units[window.q0 : window.q1 : rows]}
    looked_at = {unit.start: unit.label for unit in view.units[window.k0 : window.k1 : columns]}
    layers, heads = grid.metrics[metric.name].shape
    names = [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)]
    return {
        f"L{opened.layer}H{opened.head}": labelled(view.values, looking, looked_at),
        _(metric.label): pd.DataFrame(grid.metrics[metric.name], index=names[0], columns=names[1]),
    }
