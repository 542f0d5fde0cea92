"""The text as a row of chips, one per token or split character, for selecting the current token.

Sends the state "token": the selected position, or None after Escape; and "key", if both can be selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from viz.components.picture import UNSENT, ColoredPicture, Floats, IntList, Texts, TypedArray, sent
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "label": N_("The text as tokens"),
    "chip": N_("{label}, position {position}"),
    "parts": N_("{count} tokens: {parts}"),
    "value": N_("{label} · {value}"),
    "earlier": N_("{count} earlier"),
    "later": N_("{count} later"),
    "read": N_("read"),
    "written": N_("written"),
    "metric": N_("bar: “{metric}” of L{layer}H{head}, token by token"),
    "row": N_("Shade: how much of the attention of “{token}” in L{layer}H{head} each token gets"),
    "looks": N_("blue frame: looks"),
    "looked": N_("red: is looked at"),
    "space": N_("“·”: a space"),
    "lone": N_("“␣”: a space that is a token"),
    "shift": N_("Shift + click: the one looked at"),
    "masked": N_("masked"),
    "percent": N_("{number} %"),
}

SOURCE = read_source(Path(__file__).parent, "token_strip", '<div class="token-strip"></div>\n')


@dataclass(frozen=True, eq=False)
class MetricBars:
    """A number per chip in 0..1, NaN for none, each in ``words``; ``said`` is their meaning."""

    lengths: NDArray[np.float32]
    words: Sequence[str]
    said: str


@dataclass(frozen=True, eq=False)
class TokenStripPicture(ColoredPicture):
    """The chips in reading order: chip i covers the tokens `positions[i]` to `positions[i] + counts[i] - 1`.

    A click sets what `sets` says; with two texts the key in the first and the query in the second. Raises ValueError if
    the lists differ in length. Besides `TEXTS`, `texts` has the meaning of the tints as a whole, "shade": "row", filled
    in; with `rows`, "row" is filled in except for {token}.
    """

    labels: Sequence[str]
    positions: IntList
    counts: IntList
    parts: Sequence[Sequence[str]]
    """Labels of a chip's tokens if it has several."""
    special: Annotated[Sequence[bool], TypedArray("uint8")]
    metric: Floats
    """0..1 tints the chip; NaN leaves it plain."""
    values: Sequence[str]
    """Meaning of the tint, or empty."""
    selected: int | None
    """The query's token position; `looked_at`, the key's."""
    looked_at: int | None
    texts: Texts
    written: int = 0
    """Start of the second of two texts, on a line of its own; 0 for one text."""
    sets: Literal["query", "key"] = "query"
    """What a click on a single text sets."""
    rows: Floats | None = None
    """[chips, chips]: weights of each chip's last token on each chip; NaN where masked.

    With them the chips are tinted by the selected token's row before the page answers, and by a token pointed at in
    another figure.
    """
    both: bool = False
    """Shift-click or Shift-Enter selects the key, sent as "key"."""
    metric_bars: Annotated[MetricBars | None, UNSENT] = None

    def __post_init__(self) -> None:
        """Check the lengths."""
        n_chips = len(self.labels)
        for name in ("positions", "counts", "parts", "special", "values"):
            if len(getattr(self, name)) != n_chips:
                raise ValueError(f"{n_chips} labels but {len(getattr(self, name))} {name}")
        if self.metric.shape != (n_chips,):
            raise ValueError(f"{n_chips} labels but a metric of shape {self.metric.shape}")
        if self.rows is not None and self.rows.shape != (n_chips, n_chips):
            raise ValueError(f"{n_chips} labels but rows of shape {self.rows.shape}")
        bars = self.metric_bars
        if bars is not None and not bars.lengths.shape == (len(bars.words),) == (n_chips,):
            raise ValueError(f"{n_chips} labels but bars of shape {bars.lengths.shape} and {len(bars.words)} words")

    @sent
    def bar_words(self) -> Sequence[str]:
        """The text of the bar under each chip; empty without bars."""
        return [] if self.metric_bars is None else self.metric_bars.words

    @sent
    def bars_said(self) -> str:
        """The bars' meaning."""
        return "" if self.metric_bars is None else self.metric_bars.said

    @sent
    def bars(self) -> Floats | None:
        """[chips]: the bar's length under each, 0..1; NaN for none."""
        return None if self.metric_bars is None else self.metric_bars.lengths
