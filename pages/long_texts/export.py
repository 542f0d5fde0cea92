"""Export of the page Long texts: tables, files and Python code of its views."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.head_map import HeadMap, Window, head_map
from analysis.long_blocks import LongHeads, measures_of
from analysis.read_head import positions
from analysis.tables import labelled
from pages.long_texts.every_head import HeadsView, curves
from pages.long_texts.needle import NeedleView, needle_charts
from pages.long_texts.the_map import LongMapView
from ui.shared import cached
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz import figure_svg
from viz.chart import Lines
from viz.chart_svg import charts_svg
from viz.components.head_grid import head_grid as grid_component
from viz.components.head_map import head_map as map_component
from viz.components.long_map.long_map import LOW
from viz.curves import standalone
from viz.export import map_svg
from viz.grid_svg import grid_svg

N_ = str  # marks a text for Babel without translating it here
BLOCKS = (
    "\nfrom attention_atlas.analysis.long_blocks import block, blocks_of, long_heads\n\n"
    "found = long_heads(capture, [block(capture, rows) for rows in blocks_of(capture)])\n"
)
PIXELS = 256  # px per side of an exported map
WHAT = {"max": "largest", "mean": "mean"}
EDGES = N_("queries {q0} to {q1}, keys {k0} to {k1}")
IN_VIEW = {
    "max": N_("Attention weights in view, the largest of each pixel"),
    "mean": N_("Attention weights in view, the mean of each pixel"),
}


def map_view(opened: PageContext, drawn: LongMapView) -> ExportBundle:
    """The window in view as one picture, pooled as drawn, with the long-range links as a table."""
    capture, layer, head = opened.capture, opened.layer, opened.head
    window, name = Window(*drawn.window), f"L{opened.layer}H{opened.head}"
    texts = translated(map_component.texts_of("weights", mean=drawn.pooling == "mean"))
    low = LOW if drawn.log else 0.0

    def seen() -> HeadMap:
        key = ("long window", repr(capture.request), layer, head, window, drawn.pooling)
        return cached.made(key, lambda: head_map(capture, layer, head, window=window, pixels=PIXELS, how=drawn.pooling))

    def page(title: str, words: str, lang: str) -> bytes:
        view = seen()
        payload = map_component.HeadMapPicture(
            values=view.values, window=view.inside, total=view.total, row_labels=view.row_labels,
            col_labels=view.column_labels, scale="sequential", low=low, high=1.0, log=drawn.log, selected=None,
            pool=view.pool, number="percent", texts=texts | {"summary": title},
        ).packed()  # fmt: skip  # its many settings in a few lines
        return component_page(map_component.SOURCE, payload)(title, words, lang)

    def picture(title: str, words: str) -> str:
        view = seen()
        return map_svg(
            view.values, row_labels=view.row_labels, col_labels=view.column_labels, scale="sequential", low=low,
            high=1.0, log=drawn.log, title=title, caption=words, texts=translated(figure_svg.TEXTS),
        )  # fmt: skip

    def tables() -> dict[str, pd.DataFrame]:
        return {
            _(IN_VIEW[drawn.pooling]): labelled(seen().values, *positions(seen())),
            _far_heading(drawn.far): _far_table(opened, drawn),
        }

    return ExportBundle(
        name=f"long-map-{name}",
        title=f"{name} · " + _(EDGES).format(**_edges(drawn)),
        what=f"{WHAT[drawn.pooling]} weight of each pixel, " + EDGES.format(**_edges(drawn)),
        tables=tables,
        page=page,
        picture=picture,
        arrays=lambda: {"values": seen().values},
        code=_code(opened, drawn),
    )


def heads_view(opened: PageContext, drawn: HeadsView) -> ExportBundle:
    """The measure in view first, then the others; the thumbnails are among the arrays."""
    measures = sorted(measures_of(opened.capture), key=lambda one: one is not drawn.measure)
    return ExportBundle(
        name="long-heads",
        title=_(drawn.measure.label),
        what="means over the queries; thumbnails hold the largest weight, the first token left out",
        tables=lambda: {_(one.label): _by_head(drawn.heads.measures[one.name]) for one in measures},
        page=component_page(grid_component.SOURCE, drawn.payload),
        picture=lambda title, words: grid_svg(drawn.heads.thumbnails, drawn.heads.keep, title=title, caption=words),
        arrays={"thumbnails": drawn.heads.thumbnails, **drawn.heads.measures},
        code=f"{BLOCKS}measure = found.measures[{drawn.measure.name!r}]",
    )


def curves_view(opened: PageContext, found: LongHeads) -> ExportBundle:
    """Every line of the charts."""
    charts = [chart for _name, chart in curves(opened, found)]
    return ExportBundle(
        name="long-curves",
        title=_("Curves of a long text"),
        what=f"every query but the first; V shape and entropy of L{opened.layer}H{opened.head} and its layer",
        tables=lambda: {chart.heading: _lines_table(chart) for chart in charts},
        page=lambda title, words, lang: standalone(charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(charts, title=title, caption=words),
        arrays={"places": found.places, "entropy_at": found.entropy_at, "positions": found.positions, **found.measures},
        code=f"{BLOCKS}v_shape = found.places[{opened.layer}, {opened.head}]\n"
        f"entropy = found.entropy_at[{opened.layer}, {opened.head}]",
    )


def needle_view(opened: PageContext, found: NeedleView) -> ExportBundle:
    """What every head copied, then every forward that was run."""
    charts = [chart for _name, chart in needle_charts(found.done)]
    heading, looked = _("Needle tokens copied, by head"), _("Attention to the predicted needle token, by head")
    return ExportBundle(
        name="long-needle",
        title=_("A needle in a long text"),
        what=f"needle {found.needle.question}{found.needle.answer} in the first {found.characters:,} characters of "
        f"{'the text' if found.own else 'the chapter, not of the text'}, each token after the right ones before it",
        tables=lambda: {
            heading: _by_head(found.copied),
            looked: _by_head(found.looked),
            _("Every forward"): _forwards(found),
        },
        page=lambda title, words, lang: standalone(charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(charts, title=title, caption=words),
        arrays={"copied": found.copied, "looked": found.looked},
        code=_needle_code(found),
    )


def _forwards(found: NeedleView) -> pd.DataFrame:
    index = [
        f"{number(one.step.depth, 'share')} " + (", ".join(f"L{layer}H{head}" for layer, head in one.heads) or "–")
        for one in found.done
    ]
    data = {
        _("tokens right"): [one.found.share for one in found.done],
        _("mean probability"): [one.found.probability for one in found.done],
    }
    return pd.DataFrame(data, index=index, dtype=float)


def _needle_code(found: NeedleView) -> str:
    """Code for what each head copied, over the depths of the unedited model."""
    texts = "hidden(text, Trial(needle, depth, characters))"
    return (
        "\nfrom dataclasses import replace\n\nimport numpy as np\n\n"
        "from attention_atlas.analysis.needle import DEPTHS, Needle, Trial, hidden, retrieval\n\n"
        f"needle, characters = {found.needle!r}, {found.characters}\n"
        f"text = {found.hay!r}\n"
        "answer = runner.ids_of(needle.answer)\n"
        f"requests = [replace(capture.request, text={texts}, continuation=answer[:-1]) for depth in DEPTHS]\n"
        "found = [retrieval(runner.capture(request), answer) for request in requests]\n"
        "copied = np.mean([one.copied for one in found], axis=0)"
    )


def _lines_table(chart: Lines) -> pd.DataFrame:
    """One column per line; lines that only mark a level are left out."""
    drawn = [line for line in chart.series if len(line.x) == len(chart.series[0].x)]
    return pd.DataFrame({line.name: list(line.y) for line in drawn}, index=[f"{x:g}" for x in drawn[0].x], dtype=float)


def _by_head(values: np.ndarray) -> pd.DataFrame:
    layers, heads = values.shape
    return pd.DataFrame(values, [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)])


def _edges(drawn: LongMapView) -> dict[str, str]:
    q0, q1, k0, k1 = drawn.window
    return {"q0": f"{q0:,}", "q1": f"{q1 - 1:,}", "k0": f"{k0:,}", "k1": f"{k1 - 1:,}"}


def _far_heading(far: int) -> str:
    return _("Strongest attention over a distance of {n} or more, the first token left out").format(n=f"{far:,}")


def _far_table(opened: PageContext, drawn: LongMapView) -> pd.DataFrame:
    looks = drawn.opened.far(opened.layer, opened.head, drawn.far, 50)
    tokens = opened.capture.tokens
    data = {
        _("looking (query)"): [float(look.query) for look in looks],
        _("looked at (key)"): [float(look.key) for look in looks],
        _("weight"): [look.weight for look in looks],
    }
    return pd.DataFrame(
        data, index=[f"{tokens[one.query].text} → {tokens[one.key].text}" for one in looks], dtype=float
    )


def _code(opened: PageContext, drawn: LongMapView) -> str:
    window = ", ".join(map(str, drawn.window))
    layer, head = opened.layer, opened.head
    return (
        "\nfrom attention_atlas.analysis.far_looks import far_looks\n"
        "from attention_atlas.analysis.head_map import Window, head_map\n"
        "from attention_atlas.analysis.long_map import denominators\n\n"
        f"values = head_map(capture, {layer}, {head}, window=Window({window}), pixels={PIXELS}, how={drawn.pooling!r})"
        ".values\n"
        f"record = capture.record({layer})\n"
        f"looks = far_looks(record, {head}, denominators(record, {head}), least={drawn.far}, count=50)"
    )
