"""The text as a row of chips, one a token or a split character, on which the current token is chosen.

Sends the state "token": the chosen position, or None after Escape; and "key", where both can be chosen.
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
    """A number a chip, from 0 to 1, NaN for none, each in ``words``; ``said`` is what they mean."""

    lengths: NDArray[np.float32]
    words: Sequence[str]
    said: str


@dataclass(frozen=True, eq=False)
class TokenStripPicture(ColoredPicture):
    """The chips in reading order: chip i stands for the tokens `positions[i]` to `positions[i] + counts[i] - 1`.

    A click sets what `sets` says; of two texts the key in the first and the query in the second. ValueError where the
    lists are not of one length.
    `texts` has beside `TEXTS` what the tint means of all of them, "shade": "row", filled in; with `rows`, "row" is
    filled in but for {token}.
    """

    labels: Sequence[str]
    positions: IntList
    counts: IntList
    parts: Sequence[Sequence[str]]
    """Labels of a chip's tokens where there are several."""
    special: Annotated[Sequence[bool], TypedArray("uint8")]
    metric: Floats
    """0..1 tints the chip; NaN leaves it plain."""
    values: Sequence[str]
    """What the tint means, in words, or empty."""
    selected: int | None
    """The query, a token's position; `looked_at`, the key, too."""
    looked_at: int | None
    texts: Texts
    written: int = 0
    """Where the second of two texts begins, on a line of its own; 0 for one."""
    sets: Literal["query", "key"] = "query"
    """What a click on a single text sets."""
    rows: Floats | None = None
    """[chips, chips]: what the last token of each chip gives to each, a share; NaN where masked.

    With them the chips are tinted by the row of the selected token before the page answers, and by one that is pointed
    at in another figure.
    """
    both: bool = False
    """With Shift a click or Enter sets the key, told as "key"."""
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
        """What the bar under each chip says; none without bars."""
        return [] if self.metric_bars is None else self.metric_bars.words

    @sent
    def bars_said(self) -> str:
        """What they mean."""
        return "" if self.metric_bars is None else self.metric_bars.said

    @sent
    def bars(self) -> Floats | None:
        """[chips]: the length of the bar under each, 0..1; NaN for none."""
        return None if self.metric_bars is None else self.metric_bars.lengths
