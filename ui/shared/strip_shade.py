"""The tints of the token strip's chips, a row of the open head, and the bars below them, a metric of the head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.chip_rows import MOST, chip_rows
from analysis.token_metric import of_units
from attention.metrics import Metric
from model_runner import Capture
from ui.shared import cached
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.token_strip import token_strip
from viz.token_text import lone_spaces


@dataclass(frozen=True, eq=False)
class Shade:
    """Tints of the chips in 0..1 (NaN for none) and each chip's text; ``said`` explains the tints.

    ``rows`` has the tints for every chip that can be selected, and ``row`` their explanation with a {token}
    placeholder.
    """

    tints: NDArray[np.float32]
    values: Sequence[str]
    said: str
    rows: NDArray[np.float32] | None = None
    row: str = ""


def no_shade(capture: Capture) -> Shade:
    """No tints."""
    chips = cached.chips(capture)
    return Shade(np.full(len(chips), np.nan, np.float32), [""] * len(chips), "")


def bars_of(capture: Capture, layer: int, head: int, metric: Metric) -> token_strip.MetricBars:
    """The head's metric for each token."""
    values, full = of_units(capture, layer, head, metric, cached.chips(capture))
    said = _(token_strip.TEXTS["metric"]).format(metric=_(metric.label), layer=layer, head=head)
    words = ["" if np.isnan(value) else f"{_(metric.label)} {number(value, metric.unit)}" for value in values]
    return token_strip.MetricBars((np.array(values) / full).astype(np.float32), words, said)


def shade_by_row(capture: Capture, layer: int, head: int, query: int | None, *, hide_first: bool = False) -> Shade:
    """The query's weights on each token, or no tints without a query; ``hide_first`` as in a map's HeadQuantity."""
    chips = cached.chips(capture)
    template = _(token_strip.TEXTS["row"]).format(token="{token}", layer=layer, head=head)

    def rows(queries: list[int]) -> NDArray[np.float32]:
        return chip_rows(capture, layer, head, queries, chips, hide_first=hide_first)

    every = rows([chip.stop - 1 for chip in chips]) if len(chips) <= MOST else None
    if query is None:
        none = no_shade(capture)
        return Shade(none.tints, none.values, "", every, template)
    (shares,) = rows([query])
    words = [_("masked") if np.isnan(share) else number(float(share), "share") for share in shares]
    return Shade(shares, words, template.replace("{token}", lone_spaces(capture.tokens[query].text)), every, template)
