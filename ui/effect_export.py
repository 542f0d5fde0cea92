"""What the view "which heads matter" gives away: pictures, page, tables and code."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ui.effect_view import ANSWERS, Effects, agreement
from ui.i18n import _
from ui.page import Opened, translated
from ui.take_away import TakeAway, caption, python_start, show_take_away
from viz import figure_svg
from viz.components.layer_head_map import layer_head_map
from viz.export import csv_bytes, map_svg, npz_bytes, standalone_html


def effect_tables(opened: Opened, found: Effects) -> dict[str, pd.DataFrame]:
    """The three maps, and how far they agree."""
    rows, columns = _labels(found)
    tables = {
        f"{_(answer.label)}: {_(answer.meaning)}": pd.DataFrame(found.values(answer.name), index=rows, columns=columns)
        for answer in ANSWERS
    }
    labels = {answer.name: _(answer.label) for answer in ANSWERS}
    pairs = agreement(found)
    names = [f"{labels[one]} · {labels[other]}" for one, other in pairs]
    tables[_("rank correlation of the sizes, Spearman's ρ, all heads")] = pd.DataFrame(
        list(pairs.values()), index=names, columns=["ρ"]
    )
    return tables


def _labels(found: Effects) -> tuple[list[str], list[str]]:
    layers, heads = found.found.lost.shape
    return [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)]


def take_effects_away(opened: Opened, found: Effects) -> None:
    """The menu; picture and page are of the first answer, the numbers of all three."""
    token = opened.runner.token_text(found.target)
    words = caption(opened, f"what log p of {token} loses when a head passes on nothing, nats")
    title = f"{_(ANSWERS[0].label)} · {token}"
    rows, columns = _labels(found)
    lost = found.found.lost
    high = float(np.nanmax(np.abs(lost), initial=0.0)) or 1.0
    axes = {"row_axis": _("layers"), "column_axis": _("heads"), "masked": _("not computed")}
    flat_rows = [f"{row}{column}" for row in rows for column in columns]
    flat = np.stack([found.values(answer.name).ravel() for answer in ANSWERS], axis=1)
    show_take_away(
        TakeAway(
            name=f"head-effects-{found.target}",
            svg=lambda: map_svg(
                lost, row_labels=rows, col_labels=columns, scale="diverging", low=-high, high=high, log=False,
                title=title, caption=words, number="plain", texts=translated(figure_svg.TEXTS) | axes,
            ),
            html=lambda lang: standalone_html(
                layer_head_map.SOURCE, found.payloads["lost"], title=title, caption=words, lang=lang
            ),
            csv=lambda: csv_bytes(flat, flat_rows, [answer.name for answer in ANSWERS], words),
            npz=lambda: npz_bytes({answer.name: found.values(answer.name) for answer in ANSWERS}, words),
            snippet=effects_snippet(opened, found),
        )
    )  # fmt: skip  # the map's many settings in two lines


def effects_snippet(opened: Opened, found: Effects) -> str:
    """The lines that give the three maps."""
    return (
        python_start(opened) + "\nfrom analysis.head_effects import head_effects, layer_effects, ranking\n\n"
        f"target = {found.target}  # {opened.runner.token_text(found.target)!r}\n"
        "layers = [layer for layer in range(capture.n_layers) if capture.has_weights(layer)]\n"
        "jobs = [runner.rerun(capture, lambda rerun, layer=layer: layer_effects(rerun, layer, target)) "
        "for layer in layers]\n"
        "found = head_effects([job.result() for job in jobs], capture.n_layers, capture.n_heads)\n"
        "lost, pushed, written = found.lost, found.pushed, found.written\n"
        "most = ranking(lost, 10)"
    )
