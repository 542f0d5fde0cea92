"""A view of the page Compare: how far the weight matrices of both sides' heads differ, head by head."""

from __future__ import annotations

import re
from html import escape

import pandas as pd
import streamlit as st

from analysis.matrix_change import MatrixChange, matrix_changes
from model_runner.projection_questions import LayerMatrices
from pages.compare.names import names_of
from ui.shared.finding import show_finding
from ui.shell.components import show_heading
from ui.shell.page import PageContext, asked
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.chart import Bars
from viz.curves import CONFIG, figure

ROW = 30  # px of a bar
GREY = 3  # index among the theme’s series colours


def show_matrices(opened: PageContext, other: PageContext) -> tuple[MatrixChange, ...]:
    """Show a chart per matrix with a bar per head. Raises NotSeparable, OneStackOnly."""
    found = matrix_changes(*(asked(side, LayerMatrices(side.capture.request, side.layer)) for side in (opened, other)))
    show_finding(*_finding(found), of_several=True)
    for change, column in zip(found, st.columns(len(found), gap="small"), strict=True):
        with column:
            layers = f"L{opened.layer}" if opened.layer == other.layer else f"A L{opened.layer} · B L{other.layer}"
            show_heading(_subscripts(change.name), layers)
            words = matrix_title(change, opened, other)
            st.plotly_chart(figure(bars(change, found)), key=f"matrices_{change.name}", config=CONFIG, alt=words)
    words = _(
        "The length of A’s matrix minus B’s (Frobenius norm), as a share of the length of B’s. W_Q "
        "and W_O are per head, W_K and W_V per key/value head. 0 %: the matrix is the same."
    )
    st.html(f"<p class='atlas-caption'>{_subscripts(words)}</p>")
    return found


def _finding(found: tuple[MatrixChange, ...]) -> tuple[str, str]:
    """The longest bar, and the range of all; HTML."""
    every = [
        (share, change.name, label)
        for change in found
        for share, label in zip(change.share.tolist(), _labels(change), strict=True)
    ]
    most, name, label = max(every, key=lambda one: one[0])
    if not most > 0:
        return escape(_("All matrices are the same")), ""
    said = _("{matrix} of {head} differs most: {share}").format(matrix=name, head=label, share=number(most, "share"))
    ends = [number(end, "share") for end in (min(share for share, *_rest in every), most)]
    return _subscripts(said), escape(
        _("of the length of B’s; all of them: {low} to {high}").format(low=ends[0], high=ends[1])
    )


def _subscripts(words: str) -> str:
    """Set W_Q, … in the words as formulas; HTML."""
    return re.sub("W_([QKVO])", r"W<sub>\1</sub>", escape(words))


def _labels(change: MatrixChange) -> list[str]:
    """A label per bar."""
    return [f"H{head}" if change.name in ("W_Q", "W_O") else f"kv {head}" for head in range(len(change.share))]


def matrix_title(change: MatrixChange, opened: PageContext, other: PageContext) -> str:
    """The title of a chart."""
    a, b = names_of(opened, other, heads=False)
    return f"‖Δ{change.name}‖ / ‖{change.name}‖ · A L{opened.layer} {a} · B L{other.layer} {b}"


def bars(change: MatrixChange, every: tuple[MatrixChange, ...]) -> Bars:
    """Bars on a common scale over all charts; the longest of all is coloured."""
    shares = change.share.tolist()
    longest = max(float(one.share.max()) for one in every)
    return Bars(
        labels=_labels(change),
        values=shares,
        words=[number(share, "share") for share in shares],
        colors=[0 if share == longest else GREY for share in shares],
        height=8 + ROW * len(shares),
        heading=f"‖Δ{change.name}‖ / ‖{change.name}‖",
        longest=longest,
    )


def matrix_table(found: tuple[MatrixChange, ...]) -> pd.DataFrame:
    """Both numbers of every head."""
    columns = {f"‖Δ{one.name}‖": pd.Series(one.difference) for one in found}
    columns |= {f"‖{one.name}‖ B": pd.Series(one.size) for one in found}
    return pd.DataFrame(columns)
