"""One query's scores by frequency: each pair's step in the sum for the chosen key, and its part of every key's score.

Sends "key", the position chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "cell": N_(
        "{head}: {query} ({query_index}) and {key} ({key_index}) score {score}. The largest part, {part}, is of {pair}."
    ),
    "part": N_("{pair}: {part} of the score {score} with {key} ({key_index})."),
    "pair": N_("pair {i}, one turn in {wavelength} tokens"),
    "rest": N_("the {count} dimensions that are not turned"),
    "rest_short": N_("not turned"),
    "softcap": N_("The soft-cap makes it {score}."),
    "masked": N_("This key is masked for this query."),
    "sum": N_("score"),
    "axis_wave": N_("tokens a turn"),
    "axis_steps": N_("adding up to the score with {key}"),
    "axis_map": N_("the same for every key (indigo adds, orange takes away)"),
    "how": N_(
        "The rows at the top turn far with every step of distance; those at the bottom hardly turn within a text, so "
        "what differs there from key to key is content. The lowest strip is the sum, in a colour scale of its own."
    ),
}

SOURCE = read_source(Path(__file__).parent, "score_split", '<div class="score-split"></div>\n')


def payload(
    *,
    head: str,
    query: tuple[str, int],
    key: int,
    labels: Sequence[str],
    positions: NDArray[np.integer[Any]],
    theta: NDArray[np.floating],
    contributions: NDArray[np.floating],
    rest: NDArray[np.floating],
    n_rest: int,
    keep: NDArray[np.bool_],
    softcap: float | None,
    note: str,
    texts: Mapping[str, str],
) -> bytes:
    """`contributions` [pairs, keys] and `rest` [keys] add up to each key's score; `key` is one of `positions`.

    `rest` is what `n_rest` dimensions outside the pairs add; `keep` says which keys the query may see. `note` says
    what was left out.
    """
    n_keys = len(positions)
    if contributions.shape != (len(theta), n_keys) or not len(rest) == len(keep) == len(labels) == n_keys:
        raise ValueError(f"contributions {contributions.shape} for {len(theta)} frequencies and {n_keys} keys")
    if key not in positions:
        raise ValueError(f"the chosen key {key} is not among the drawn positions")
    meta: dict[str, JSON] = {
        "head": head,
        "query": list(query),
        "key": key,
        "labels": list(labels),
        "n_rest": n_rest,
        "softcap": softcap,
        "note": note,
        "texts": dict(texts),
        "palette": palette(),
    }
    numbers = {"theta": theta, "contributions": contributions, "rest": rest}
    return pack(
        meta,
        {name: values.astype(np.float32) for name, values in numbers.items()}
        | {"positions": positions.astype(np.int32), "keep": keep.astype(np.uint8)},
    )
