"""Export of the page Sharing heads: tables, files and Python code of its views."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from pages.sharing.counts import CountsView, charts
from pages.sharing.on_model import Shared, top_of
from pages.sharing.picture import Shares
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.what_if import output_name
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from viz import figure_svg
from viz.chart_svg import charts_svg
from viz.components.head_grid import head_grid as grid_component
from viz.curves import standalone
from viz.export import map_svg

CHANGED = "\nfrom dataclasses import replace\n\nfrom attention_atlas.model_runner.edits import SharedKeys\n"


# -- on the model -----------------------------------------------------------------------------------------------------


def model_view(opened: PageContext, found: Shared) -> ExportBundle:
    """The drift in view, as a picture and an interactive page, and the numbers of everything that changed."""
    kv_heads, tables = found.shares.chosen, _model_tables(opened, found)
    drift, table = next(iter(tables.items()))
    texts = translated(figure_svg.TEXTS) | {"row_axis": _("layer"), "column_axis": _("head"), "masked": "–"}
    return ExportBundle(
        name=f"sharing-{kv_heads}-kv-heads",
        title=f"{drift} · " + _("averaged to {kv_heads}").format(kv_heads=kv_heads),
        what=f"drift of {found.drift} of every head, keys and values averaged to {kv_heads} heads, not trained",
        tables=lambda: tables,
        page=component_page(grid_component.SOURCE, found.payload),
        picture=lambda title, words: map_svg(
            found.drawn, row_labels=list(table.index), col_labels=list(table.columns), scale="sequential", low=0.0,
            high=top_of(found.drawn), log=False, title=title, caption=words, texts=texts,
        ),
        arrays=_arrays(opened, found),
        code=_model_code(found),
    )  # fmt: skip  # the map's many settings in two lines


def _model_tables(opened: PageContext, found: Shared) -> dict[str, pd.DataFrame]:
    """Both drifts, the one in view first; the groups, the next tokens, and the numbers before and after."""
    before, after = _("before"), _("after")
    drifts = [(_("Drift of attention"), found.attention), (_("Drift of output"), found.output)]
    tables = {name: _by_head(values) for name, values in drifts[:: -1 if found.drift == "output" else 1]}
    tables[_("Who shares what: the key/value head of each query head")] = _groups(opened, found.shares)
    if found.change is not None:
        tokens = [opened.runner.token_text(token) for token in found.change.ids]
        data = {before: found.change.before, after: found.change.after}
        tables[output_name(found.change.position)] = pd.DataFrame(data, index=tokens)
    numbers = {_("perplexity of the text"): found.perplexities, _("bytes of the cache"): found.n_bytes}
    known = {name: pair for name, pair in numbers.items() if pair is not None}
    if known:
        tables[_("Numbers")] = pd.DataFrame(known.values(), index=list(known), columns=[before, after], dtype=float)
    return tables


def _groups(opened: PageContext, shares: Shares) -> pd.DataFrame:
    n_heads = opened.capture.record(opened.layer).q.shape[0]
    data = {
        _("before"): [head * shares.own // n_heads for head in range(n_heads)],
        _("after"): [head * shares.chosen // n_heads for head in range(n_heads)],
    }
    return pd.DataFrame(data, index=[f"L{opened.layer}H{head}" for head in range(n_heads)], dtype=float)


def _by_head(values: np.ndarray) -> pd.DataFrame:
    layers, heads = values.shape
    return pd.DataFrame(values, [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)])


def _arrays(opened: PageContext, found: Shared) -> dict[str, np.ndarray]:
    layer, head = opened.layer, opened.head
    arrays = {
        "drift_of_attention": found.attention,
        "drift_of_output": found.output,
        "before": opened.capture.weights(layer, head).cpu().double().numpy(),
        "after": found.after.weights(layer, head).cpu().double().numpy(),
    }
    if found.change is not None:
        arrays["kl"] = np.array(found.change.kl)
    if found.perplexities is not None:
        arrays["perplexity"] = np.array(found.perplexities)
    if found.n_bytes is not None:
        arrays["n_bytes"] = np.array(found.n_bytes)
    return arrays


def _model_code(found: Shared) -> str:
    """Code for the drifts, the KL divergence and the perplexities."""
    lines = [
        "from attention_atlas.analysis.comparison import head_drift, next_token_change",
        "from attention_atlas.analysis.mask_effect import perplexity",
        "from attention_atlas.analysis.sharing import output_drift",
        "",
        f"edits = (*capture.request.edits, SharedKeys({found.shares.chosen}))",
        "changed = runner.capture(replace(capture.request, edits=edits))",
        "attention, output = head_drift(capture, changed), output_drift(capture, changed)",
    ]
    if found.change is not None:
        lines.append(f"kl = next_token_change(capture, changed{_at(found.change.position)}).kl  # bits")
    lines += ["before, after = perplexity(capture), perplexity(changed)"] if found.perplexities is not None else []
    return CHANGED + "\n".join(lines)


# -- all numbers of heads ---------------------------------------------------------------------------------------------


def counts_view(view: CountsView) -> ExportBundle:
    """Every bar of the charts."""
    shown = charts(view)
    drawn = [chart.drawn for chart in shown]
    rows = [view.label(count) for count in view.shares.counts]
    columns = [f"{chart.drawn.heading} · {chart.drawn.note}" for chart in shown]
    values = np.array([chart.values for chart in shown]).T
    title = _("Every number of key/value heads")
    return ExportBundle(
        name="sharing-every-number",
        title=title,
        what=f"keys and values averaged to fewer heads in every layer, not trained: {' | '.join(columns)}",
        tables=lambda: {title: pd.DataFrame(values, index=rows, columns=columns)},
        page=lambda title, words, lang: standalone(drawn, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(drawn, title=title, caption=words),
        arrays={"values": values, "columns": np.array(columns), "rows": np.array(rows)},
        code=_counts_code(view),
    )


def _counts_code(view: CountsView) -> str:
    """Code for the KL divergence and the perplexity at every number of heads."""
    lines = [
        "from attention_atlas.analysis.comparison import next_token_change",
        "from attention_atlas.analysis.mask_effect import perplexity",
        "",
        f"edits = [(*capture.request.edits, SharedKeys(count)) for count in {view.shares.counts}]",
        "changed = [runner.capture(replace(capture.request, edits=one)) for one in edits]",
        f"kl = [next_token_change(capture, one{_at(view.position)}).kl for one in changed]  # bits",
    ]
    lines += [] if math.isnan(view.perplexity) else ["perplexities = [perplexity(one) for one in changed]"]
    return CHANGED + "\n".join(lines)


def _at(position: int | None) -> str:
    """The position argument for an encoder."""
    return "" if position is None else f", {position}"
