"""Linear attention in both orders, (QKᵀ)V and Q(KᵀV), and Lightning's blocks, of which some are computed in each.

Everything is computed in the browser of the queries, keys and values that are sent. Sends "read", the last token that
the reader has let in, and "block", the tokens in a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "play": N_("play"),
    "pause": N_("pause"),
    "tokens_read": N_("tokens read"),
    "blocks_read": N_("blocks read"),
    "at_token": N_("{token} ({place}) is read"),
    "at_block": N_("block {block} of {count}"),
    "size": N_("tokens in a block: {count}"),
    "map": N_("map"),
    "left": N_("Left product first: {formula}"),
    "left_work": N_(
        "Between: a map of {between} numbers. Multiply-adds: {adds}. Both grow with the square of the text."
    ),
    "right": N_("Right product first: {formula}"),
    "right_work": N_(
        "Between: a state of {between} numbers, however long the text is; every token adds its key times its value. "
        "Multiply-adds: {adds}. That is fewer from {from} tokens on."
    ),
    "same": N_(
        "Each row of O is divided by the sum of its weights. Largest difference between the two outputs: {off} "
        "(rounding)."
    ),
    "same_around": N_(
        "This layer looks both ways: every query reads the state once all tokens are in it. Each row of O is divided "
        "by the sum of its weights. Largest difference between the two outputs: {off} (rounding)."
    ),
    "intra": N_("Inside a block (intra), left product: {cells} cells, {adds} multiply-adds"),
    "inter": N_("Blocks before (inter), right product: {adds} multiply-adds stand for {cells} cells"),
    "intra_name": N_("intra"),
    "inter_name": N_("inter"),
    "state": N_("state"),
    "reads": N_("The outlined block reads this state of tokens {first} to {last}:"),
    "reads_nothing": N_("Before the first block the state is empty:"),
    "blocks_work": N_("Together {adds} multiply-adds; one block as long as the text: {whole}."),
    "blocks_same": N_("Both parts sum to the whole product: largest difference {off} (rounding)."),
}  # fmt: skip  # a text a line

SOURCE = read_source(Path(__file__).parent, "bracketings", '<div class="bracketings">\n</div>')


def payload(
    *,
    q: NDArray[np.floating],
    k: NDArray[np.floating],
    v: NDArray[np.floating],
    labels: Sequence[str],
    first: int,
    causal: bool,
    decay: float,
    divides: bool,
    block: int,
    read: int,
    query: str,
    key: str,
    texts: Mapping[str, str],
) -> bytes:
    """``q`` and ``k`` [tokens, d] as they are compared, ``v`` is [tokens, d_value].

    The first token is number ``first`` of the text. Each token back counts ``decay`` times as much; ``divides``: rows
    are divided by their sum. ``block`` 0: both orders are shown.
    """
    meta: dict[str, JSON] = {
        "labels": list(labels),
        "first": first,
        "causal": causal,
        "decay": decay,
        "divides": divides,
        "block": block,
        "read": read,
        "query": query,
        "key": key,
        "texts": dict(texts),
        "palette": palette(),
    }
    return pack(meta, {name: one.astype(np.float32) for name, one in (("q", q), ("k", k), ("v", v))})
