"""The indexer's scores for the pinned query in the open layer: which keys it selected, and what it missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from analysis.chosen_keys import IndexRow, index_row
from model_runner import RunnerError
from ui.shared.export_bundle import ExportBundle, arrays_of
from ui.shell.page import PageContext
from ui.wording.i18n import _
from ui.wording.sentences import number, sentence
from viz.chart import Line, Lines
from viz.curves import CONFIG, page_figure
from viz.markdown import plain


def show_index_scores(opened: PageContext) -> IndexRow | None:
    """Show the scores of the keys for the pinned query, or the last one; nothing for a layer without an indexer."""
    if not opened.capture.has_indexer(opened.layer):
        return None
    query = len(opened.capture.tokens) - 1 if opened.query is None else opened.query
    try:
        row = index_row(opened.capture, opened.layer, opened.head, query)
    except RunnerError as error:
        st.caption(plain(sentence(error)))
        return None
    heading = _heading(opened, row)
    st.plotly_chart(page_figure(_chart(row)), key="index_scores", config=CONFIG, alt=heading)
    st.caption(plain(f"{heading} {_missed(opened, row)}"))
    return row


def _heading(opened: PageContext, row: IndexRow) -> str:
    token = opened.capture.tokens[row.query].text
    words = _("What the indexer of L{layer} scored for {token} ({query}): it chose {chosen} of {count} keys.")
    return words.format(layer=row.by, token=token, query=row.query, chosen=int(row.chosen.sum()), count=len(row.keys))


def _missed(opened: PageContext, row: IndexRow) -> str:
    words = _(
        "With attention to all keys, {head} would give {share} to those that it left out (exact, from its q and k)."
    )
    return words.format(head=f"L{opened.layer}H{opened.head}", share=number(row.missed, "share"))


def _chart(row: IndexRow) -> Lines:
    every = list(map(float, row.keys))
    points = [
        (one, score, chosen) for one, score, chosen in zip(every, row.scores.tolist(), row.chosen.tolist(), strict=True)
    ]
    series = [Line(_("all keys"), every, row.scores.tolist(), quiet=True)]
    for name, wanted in ((_("chosen"), True), (_("not chosen"), False)):
        some = [(x, y) for x, y, chosen in points if chosen == wanted]
        if some:
            series.append(Line(name, [x for x, _y in some], [y for _x, y in some], points=True, joined=False))
    return Lines(series=series, x_title=_("position of the key"), y_title=_("index score"), height=240)


def with_index_scores(view: ExportBundle, opened: PageContext, row: IndexRow | None) -> ExportBundle:
    """Add the scores to the export as a table and arrays, with Python code."""
    if row is None:
        return view
    tokens, one = opened.capture.tokens, f"queries=slice({row.query}, {row.query + 1})"
    table = pd.DataFrame(
        {_("index score"): row.scores, _("chosen"): row.chosen.astype(np.uint8)},
        index=[f"{key} {tokens[key].text}" for key in row.keys],
    )
    return replace(
        view,
        tables=lambda: {**view.tables(), f"{_('index score')} · {row.query}": table},
        arrays=lambda: {
            **arrays_of(view),
            "index_keys": np.array(row.keys),
            "index_scores": row.scores,
            "index_chosen": row.chosen,
        },
        code=f"{view.code}\n\nindex_scores = capture.index_scores({opened.layer}, {one})[0]\n"
        f"chosen = capture.chosen_keys({opened.layer}, {one})[0]\n"
        f"missed = capture.missed_share({opened.layer}, {opened.head}, {one})[0]",
    )  # fmt: skip  # a part a line
