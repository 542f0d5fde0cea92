"""What the page Sharing heads gives away, one menu for each of its views: picture, page, tables and code."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.comparison import NextTokenChange
from ui.i18n import _
from ui.page import Opened, translated
from ui.sharing_counts import CountsView, charts
from ui.sharing_model import Shared, top_of
from ui.sharing_picture import Shares
from ui.take_away import TakeAway, caption, python_start, show_take_away
from viz import curves, figure_svg
from viz.components.head_groups import head_groups
from viz.export import csv_bytes, map_svg, npz_bytes, standalone_html

CHANGED = "\nfrom dataclasses import replace\n\nfrom model_runner.edits import SharedKeys\n"


# -- on the model -----------------------------------------------------------------------------------------------------


def model_tables(opened: Opened, found: Shared) -> dict[str, pd.DataFrame]:
    """Who shares what, both drifts, the next tokens, and the numbers before and after."""
    before, after = _("before"), _("after")
    tables = {
        _("Who shares what: the key/value head of each query head"): _groups(opened, found.shares),
        _("Drift of attention"): _by_head(found.attention),
        _("Drift of output"): _by_head(found.output),
    }
    if found.change is not None:
        tables[_("Next token")] = _tokens(opened, found.change)
    rows: dict[str, tuple[float, float]] = {}
    if found.perplexities is not None:
        rows[_("perplexity of the text")] = found.perplexities
    if found.n_bytes is not None:
        rows[_("bytes of the cache")] = found.n_bytes
    if rows:
        tables[_("Numbers")] = pd.DataFrame(list(rows.values()), index=list(rows), columns=[before, after], dtype=float)
    return tables


def _groups(opened: Opened, shares: Shares) -> pd.DataFrame:
    n_heads = opened.capture.record(opened.layer).q.shape[0]
    data = {
        _("before"): [head * shares.own // n_heads for head in range(n_heads)],
        _("after"): [head * shares.chosen // n_heads for head in range(n_heads)],
    }
    return pd.DataFrame(data, index=[f"L{opened.layer}H{head}" for head in range(n_heads)], dtype=float)


def _by_head(values: np.ndarray) -> pd.DataFrame:
    layers, heads = values.shape
    return pd.DataFrame(values, index=_names("L", layers), columns=_names("H", heads))


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{i}" for i in range(count)]


def _tokens(opened: Opened, change: NextTokenChange) -> pd.DataFrame:
    tokens = [opened.runner.token_text(token) for token in change.ids]
    return pd.DataFrame({_("before"): change.before, _("after"): change.after}, index=tokens)


def take_model_away(opened: Opened, found: Shared) -> None:
    """The menu of the view on the model: the drift as a picture, and who shares what as a page that stays alive."""
    layers, heads = found.drawn.shape
    rows, columns = _names("L", layers), _names("H", heads)
    what = f"drift of {found.drift} of every head, keys and values averaged to {found.shares.chosen} heads, not trained"
    words = caption(opened, what)
    title = _("averaged to {kv_heads}").format(kv_heads=found.shares.chosen)
    show_take_away(
        TakeAway(
            name=f"sharing-{found.shares.chosen}-kv-heads",
            svg=lambda: map_svg(
                found.drawn, row_labels=rows, col_labels=columns, scale="sequential", low=0.0, high=top_of(found.drawn),
                log=False,
                title=title, caption=words, texts=_map_texts(),
            ),
            html=lambda lang: standalone_html(
                head_groups.SOURCE, found.shares.payload, title=title, caption=words, lang=lang
            ),
            csv=lambda: csv_bytes(found.drawn, rows, columns, words),
            npz=lambda: npz_bytes(_arrays(opened, found), words),
            snippet=model_snippet(opened, found),
        )
    )  # fmt: skip  # the map's many settings in two lines


def _map_texts() -> dict[str, str]:
    return translated(figure_svg.TEXTS) | {"row_axis": _("layer"), "column_axis": _("head"), "masked": "–"}


def _arrays(opened: Opened, found: Shared) -> dict[str, np.ndarray]:
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


def model_snippet(opened: Opened, found: Shared) -> str:
    """The lines that give the drifts, the KL and the perplexities."""
    lines = [
        "from analysis.comparison import head_drift, next_token_change",
        "from analysis.mask_effect import perplexity",
        "from analysis.sharing import output_drift",
        "",
        f"edits = (*capture.request.edits, SharedKeys({found.shares.chosen}))",
        "changed = runner.capture(replace(capture.request, edits=edits))",
        "attention, output = head_drift(capture, changed), output_drift(capture, changed)",
    ]
    lines += ["kl = next_token_change(capture, changed).kl  # nats"] if found.change is not None else []
    lines += ["before, after = perplexity(capture), perplexity(changed)"] if found.perplexities is not None else []
    return python_start(opened) + CHANGED + "\n".join(lines)


# -- all numbers of heads ---------------------------------------------------------------------------------------------


def counts_tables(view: CountsView) -> dict[str, pd.DataFrame]:
    """Every bar of the charts."""
    rows, columns, values = _counts(view)
    return {_("Every number of key/value heads"): pd.DataFrame(values, index=rows, columns=columns)}


def _counts(view: CountsView) -> tuple[list[str], list[str], np.ndarray]:
    shown = charts(view)
    rows = [view.label(count) for count in view.shares.counts]
    return rows, [f"{chart.heading} · {chart.note}" for chart in shown], np.array([chart.values for chart in shown]).T


def take_counts_away(opened: Opened, view: CountsView) -> None:
    """The menu of the charts."""
    rows, columns, values = _counts(view)
    title = _("Every number of key/value heads")
    words = caption(opened, "keys and values averaged to fewer heads in every layer, not trained")
    words += "\n" + " | ".join(columns)
    show_take_away(
        TakeAway(
            name="sharing-every-number",
            html=lambda lang: curves.standalone(
                [chart.figure for chart in charts(view)], title=title, caption=words, lang=lang
            ),
            csv=lambda: csv_bytes(values, rows, columns, words),
            npz=lambda: npz_bytes({"values": values, "columns": np.array(columns), "rows": np.array(rows)}, words),
            snippet=counts_snippet(opened, view),
        )
    )


def counts_snippet(opened: Opened, view: CountsView) -> str:
    """The lines that give the KL and the perplexity of every number of heads."""
    lines = [
        "from analysis.comparison import next_token_change",
        "from analysis.mask_effect import perplexity",
        "",
        f"edits = [(*capture.request.edits, SharedKeys(count)) for count in {view.shares.counts}]",
        "changed = [runner.capture(replace(capture.request, edits=one)) for one in edits]",
        "kl = [next_token_change(capture, one).kl for one in changed]  # nats",
    ]
    has_perplexity = view.perplexity == view.perplexity
    lines += ["perplexities = [perplexity(one) for one in changed]"] if has_perplexity else []
    return python_start(opened) + CHANGED + "\n".join(lines)
