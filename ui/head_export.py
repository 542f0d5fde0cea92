"""What the Heads page gives away: the map in view, as picture, page, table and code."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from analysis.head_map import HeadMap, Reading
from ui.head_views import Scale
from ui.page import Opened, translated
from ui.take_away import TakeAway, caption, python_start, show_take_away
from viz import figure_svg
from viz.components.head_map import head_map as map_component
from viz.export import csv_bytes, map_svg, npz_bytes, standalone_html


def take_head_away(
    opened: Opened, view: HeadMap, reading: Reading, scale: Scale, payload: bytes, other: tuple[int, int] | None
) -> None:
    """The menu of the Heads page."""
    rows = [unit.label for unit in view.units[view.window.q0 : view.window.q1]]
    columns = [unit.label for unit in view.units[view.window.k0 : view.window.k1]]
    if view.how != "exact":
        rows, columns = _pixel_labels(rows, view.pool[0]), _pixel_labels(columns, view.pool[1])
    words = caption(opened, _normalisation(view, reading, other))
    title = f"L{opened.layer}H{opened.head}"
    svg_labels = (rows, columns) if view.how == "exact" else ([], [])
    show_take_away(
        TakeAway(
            name=f"attention-{title}",
            svg=lambda: map_svg(
                view.values,
                row_labels=svg_labels[0],
                col_labels=svg_labels[1],
                title=title,
                caption=words,
                texts=translated(figure_svg.TEXTS),
                **asdict(scale),
            ),
            html=lambda lang: standalone_html(map_component.SOURCE, payload, title=title, caption=words, lang=lang),
            csv=lambda: csv_bytes(view.values, rows, columns, words),
            npz=lambda: npz_bytes({"values": view.values, "queries": np.array(rows), "keys": np.array(columns)}, words),
            snippet=_snippet(opened, view, reading, other),
        )
    )


def _pixel_labels(labels: list[str], size: int) -> list[str]:
    return [f"{labels[i]} … ({size})" for i in range(0, len(labels), size)]


def _normalisation(view: HeadMap, reading: Reading, other: tuple[int, int] | None) -> str:
    parts = [
        {"weights": "weights after softmax", "scores": "scores before softmax", "value": "weight × ‖v‖"}[reading.what]
    ]
    if reading.hide_first and reading.what != "scores":
        parts.append("first token hidden, rows renormalised")
    if reading.words and reading.what != "scores":
        parts.append("words: keys summed, queries averaged")
    if other is not None:
        parts.append(f"minus L{other[0]}H{other[1]}")
    if view.how != "exact":
        parts.append(f"{view.how} of {view.pool[0]}×{view.pool[1]} cells")
    return ", ".join(parts)


def _snippet(opened: Opened, view: HeadMap, reading: Reading, other: tuple[int, int] | None) -> str:
    """The same array by the same function, whatever was chosen on the page."""
    window = view.window
    heads = [(opened.layer, opened.head), *([other] if other is not None else [])]
    lines = [python_start(opened) + "\nfrom analysis.head_map import Reading, Window, head_map\n"]
    lines.append(f"reading = Reading(what={reading.what!r}, hide_first={reading.hide_first}, words={reading.words})")
    lines.append(f"window = Window({window.q0}, {window.q1}, {window.k0}, {window.k1})")
    calls = [f"head_map(capture, {layer}, {head}, reading=reading, window=window).values" for layer, head in heads]
    lines.append("values = " + " - ".join(calls))
    if reading == Reading() and other is None and view.how == "exact":
        whole = (window.q0, window.q1, window.k0, window.k1) == (0, len(view.units), 0, len(view.units))
        tile = f", queries=slice({window.q0}, {window.q1}), keys=slice({window.k0}, {window.k1})"
        lines.append(f"# or, in plain torch: capture.weights({opened.layer}, {opened.head}{'' if whole else tile})")
    return "\n".join(lines)
