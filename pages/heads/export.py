"""Export of the page Heads: the map in view, and every head's metrics and thumbnail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.class_scores import class_scores
from analysis.head_grid import HeadGrid
from attention.metrics import METRICS, Metric
from pages.heads.buckets import bucket_table
from ui.shared.class_scores import class_table
from ui.shared.export_bundle import ExportBundle, arrays_of, caption
from ui.shared.head_export import head_view
from ui.shared.head_views import DrawnHead
from ui.wording.i18n import _
from viz.export import csv_bytes, npz_bytes
from viz.grid_svg import grid_svg


def heads_view(drawn: DrawnHead, grid: HeadGrid, metric: Metric) -> ExportBundle:
    """The map first, then the grid's metric, and a classifier's scores; all heads are in files of their own."""
    view, values = head_view(drawn), grid.metrics[metric.name]
    layers, heads = values.shape
    table = pd.DataFrame(values, [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)])
    classes = class_scores(drawn.opened.capture, drawn.opened.runner.info)
    scores = {} if classes is None else {_("Class"): class_table(classes)}
    more = "" if classes is None else "\nscores = dict(zip(runner.info.classes, capture.class_logits.tolist()))"
    words = caption(drawn.opened, "means over the queries; thumbnails hold the largest weight", head="all heads")
    left_out = {} if grid.left_out is None else {"left_out": grid.left_out}
    return replace(
        view,
        tables=lambda: {**view.tables(), _(metric.label): table, **scores, **bucket_table(drawn.opened)},
        arrays=lambda: {**arrays_of(view), "metric": values},
        code=f"{view.code}\n{_code(metric)}{_habit_code(drawn)}{more}",
        files={
            "all-heads.svg": lambda: _picture(grid, words),
            "all-heads.csv": lambda: _csv(grid, words),
            "all-heads.npz": lambda: npz_bytes(
                {"thumbnails": grid.thumbnails, "keep": grid.keep, **left_out, **grid.metrics}, words
            ),
        },
    )


def _picture(grid: HeadGrid, words: str) -> bytes:
    title = _("Every head")
    return grid_svg(grid.thumbnails, grid.keep, left_out=grid.left_out, title=title, caption=words).encode()


def _csv(grid: HeadGrid, words: str) -> bytes:
    """One row per head, one column per metric with its unit."""
    columns = [f"{metric.name} ({metric.unit})" for metric in METRICS]
    values = np.stack([grid.metrics[metric.name].ravel() for metric in METRICS], axis=1)
    heads = next(iter(grid.metrics.values())).shape[1]
    return csv_bytes(values, [f"L{i // heads}H{i % heads}" for i in range(len(values))], columns, words)


def _habit_code(drawn: DrawnHead) -> str:
    """Code for what the head does on this text."""
    place = f"{drawn.opened.layer}, {drawn.opened.head}"
    return f"\n\nfrom attention_atlas.analysis.head_habit import head_habits\n\nhabits = head_habits(capture, {place})"


def _code(metric: Metric) -> str:
    """Code for the metric of every head."""
    values = f"metric = head_grid(capture).metrics[{metric.name!r}]"
    return f"\nfrom attention_atlas.analysis.head_grid import head_grid\n\n{values}"
