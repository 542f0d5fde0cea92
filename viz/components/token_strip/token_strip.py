"""The text as a row of chips, one a token or a split character, on which the current token is chosen.

Sends the state "token": the chosen position, or None after Escape; and "key", where both can be chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import pack
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
    "row": N_("Shade: how much each token gets of the attention of “{token}” in L{layer}H{head}"),
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


def payload(
    *,
    labels: Sequence[str],
    positions: Sequence[int],
    counts: Sequence[int],
    parts: Sequence[Sequence[str]],
    special: Sequence[bool],
    metric: NDArray[np.floating],
    values: Sequence[str],
    selected: int | None,
    looked_at: int | None,
    texts: Mapping[str, str],
    written: int = 0,
    sets: Literal["query", "key"] = "query",
    rows: NDArray[np.floating] | None = None,
    both: bool = False,
    bars: MetricBars | None = None,
) -> bytes:
    """The chips in reading order: chip i stands for the tokens `positions[i]` to `positions[i] + counts[i] - 1`.

    `parts[i]` labels those tokens where there is more than one. `metric[i]` in 0..1 tints the chip, NaN leaves it
    plain; `values[i]` is what the tint means, in words, or empty. `selected` (the query) and `looked_at` (the key) are
    token positions, not chip indices. `written`: of two texts, where the second begins, on a line of its own. A click
    sets what `sets` says; of two texts the key in the first and the query in the second.
    `texts` has beside `TEXTS` what the tint means of all of them, "shade": "row", filled in.
    `rows[i]` is what the last token of chip i gives to each chip, a share or NaN where masked: with them the chips are
    tinted by the row of the selected token, before the page answers, and by one that is pointed at in another figure.
    "row" of `texts` is then filled in but for {token}. `both`: with Shift a click or Enter sets the key, told as "key".
    `bars` are drawn under the chips.
    """
    n_chips = len(labels)
    lists = {"positions": positions, "counts": counts, "parts": parts, "special": special, "values": values}
    for name, given in lists.items():
        if len(given) != n_chips:
            raise ValueError(f"{n_chips} labels but {len(given)} {name}")
    if metric.shape != (n_chips,):
        raise ValueError(f"{n_chips} labels but a metric of shape {metric.shape}")
    if rows is not None and rows.shape != (n_chips, n_chips):
        raise ValueError(f"{n_chips} labels but rows of shape {rows.shape}")
    meta = {
        "labels": list(labels),
        "parts": [list(pieces) for pieces in parts],
        "values": list(values),
        "selected": selected,
        "looked_at": looked_at,
        "written": written,
        "sets": sets,
        "both": both,
        "texts": dict(texts),
        "bar_words": [] if bars is None else list(bars.words),
        "bars_said": "" if bars is None else bars.said,
        "palette": palette(),
    }
    if bars is not None and not bars.lengths.shape == (len(bars.words),) == (n_chips,):
        raise ValueError(f"{n_chips} labels but bars of shape {bars.lengths.shape} and {len(bars.words)} words")
    arrays = {
        "positions": np.asarray(positions, dtype=np.int32),
        "counts": np.asarray(counts, dtype=np.int32),
        "special": np.asarray(special, dtype=np.uint8),
        "metric": np.asarray(metric, dtype=np.float32),
    }
    more = {"rows": rows, "bars": None if bars is None else bars.lengths}
    return pack(meta, arrays | {name: np.asarray(one, np.float32) for name, one in more.items() if one is not None})
