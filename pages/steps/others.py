"""Self-attention beside a recurrent and a convolutional layer, at this text's length and this model's width."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd
import streamlit as st

from analysis.joined import n_looked_at
from attention.layer_costs import LAYERS, NEAR
from pages.steps.chains import show_charts
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding
from ui.shell.page import PageContext
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.curves import standalone

LENGTHS = tuple(2**power for power in range(1, 18))


@dataclass(frozen=True, eq=False)
class Others:
    """The table at this length, and two charts over every length."""

    n: int
    d: int
    table: pd.DataFrame
    charts: tuple[Lines, ...]


def show_others(opened: PageContext) -> Others:
    """Show the table on the left, and work and path length against the text's length on the right."""
    n, d = n_looked_at(opened.capture), opened.capture.hidden.shape[-1]
    table, charts = _table(n, d), _charts(n, d)
    words = _("One layer over this text, n = {n} tokens of d = {d} numbers").format(n=f"{n:,}", d=f"{d:,}")
    if (said := _finding(n)) is None:
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    else:
        show_finding(escape(said), escape(words), of_several=True)
    st.table(_read(table))
    note = _("Projections are left out, as in the paper’s table. k = 3 tokens for the convolution, r = {r} on "
             "either side for the window. The orders of growth leave out factors, which the numbers have: attention "
             "multiplies n² · d times for q · k and again for the values, a recurrent net n · d² times for its token "
             "and again for its state.").format(r=NEAR)  # fmt: skip
    st.html(f"<p class='atlas-caption'>{escape(note)}</p>")
    for place, chart, name in zip(st.columns(2, gap="medium"), charts, ("work", "path"), strict=True):
        with place:
            show_charts((chart,), f"steps_{name}")
    return Others(n, d, table, charts)


def _finding(n: int) -> str | None:
    """The path length between the first and the last token; None if nothing is between them."""
    path = {layer.name: layer.path(n) for layer in LAYERS}
    if path["recurrent"] <= path["attention"]:
        return None
    said = _("From the first token to the last it is {attention} step with attention, {recurrent} with a recurrent net")
    return said.format(attention=path["attention"], recurrent=f"{path['recurrent']:,}")


def _columns() -> list[str]:
    return [_("multiply-adds"), _("sequential steps"), _("path from the last token to the first")]


def _table(n: int, d: int) -> pd.DataFrame:
    rows = [[layer.work(n, d), layer.sequential(n), layer.path(n)] for layer in LAYERS]
    return pd.DataFrame(rows, index=[_(layer.label) for layer in LAYERS], columns=_columns())


def _read(table: pd.DataFrame) -> pd.DataFrame:
    """The numbers beside the paper's orders of growth."""
    orders = pd.DataFrame([layer.orders for layer in LAYERS], index=table.index, columns=table.columns)
    return table.map(lambda value: f"{value:,}") + "   " + orders


def _charts(n: int, d: int) -> tuple[Lines, ...]:
    places = [float(length) for length in LENGTHS]
    here = (float(max(2, n)), _("this text"))
    work = [Line(_(layer.label), places, [float(layer.work(length, d)) for length in LENGTHS]) for layer in LAYERS]
    # path length 0, for a single token, does not fit on a logarithmic axis, so all start at two
    path = [Line(_(layer.label), places, [float(layer.path(length)) for length in LENGTHS]) for layer in LAYERS]
    titles = (
        (work, _("multiply-adds"), _("Work of a layer: self-attention passes the recurrent net at n = d")),
        (path, _("steps"), _("Steps that lie between the last token and the first")),
    )
    return tuple(
        Lines(series=series, x_title=_("tokens"), y_title=unit, log_x=True, log_y=True, marker=here, height=330,
              heading=heading)
        for series, unit, heading in titles
    )  # fmt: skip  # its settings in two lines


def others_view(found: Others) -> ExportBundle:
    """The table and the charts."""
    return ExportBundle(
        name=f"layer-types-{found.n}x{found.d}",
        title=_("Self-attention, recurrent net, convolution"),
        what=f"counts of one layer over {found.n} tokens of {found.d} numbers, by formula",
        tables=lambda: {_("One layer over this text"): found.table}
        | {chart.heading: pd.DataFrame({line.name: list(line.y) for line in chart.series}, [f"{n:,}" for n in LENGTHS])
           for chart in found.charts},
        page=lambda title, words, lang: standalone(found.charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(found.charts, title=title, caption=words),
        code="from attention_atlas.attention.layer_costs import LAYERS, counted_path\n\n"
        f"n, d = {found.n}, {found.d}\n"
        "rows = [(layer.work(n, d), layer.sequential(n), layer.path(n)) for layer in LAYERS]\n"
        "counted = [counted_path(layer, min(n, 64)) for layer in LAYERS]  # step by step, as the formula says",
        starts_with_capture=False,
    )  # fmt: skip  # a table a chart
