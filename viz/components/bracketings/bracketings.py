"""Linear attention in both orders, (QKᵀ)V and Q(KᵀV), and Lightning's blocks, some of which are computed in each.

Everything is computed in the browser from the queries, keys and values that are sent. Sends "read", the last token that
the reader has included, and "block", the number of tokens in a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import ColoredPicture, Floats, Texts
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


@dataclass(frozen=True, eq=False)
class BracketingsPicture(ColoredPicture):
    """The inputs of linear attention, and how it is shown."""

    q: Floats
    """[tokens, d], after the feature map."""
    k: Floats
    v: Floats
    """[tokens, d_value]"""
    labels: Sequence[str]
    first: int
    """Number of the first token in the text."""
    causal: bool
    """Whether attention is causal."""
    decay: float
    """What remains of a token one token later; 1 without decay."""
    divides: bool
    """Whether a row is divided by the sum of its weights."""
    block: int
    """Tokens in a block; 0 to show both orders instead of blocks."""
    read: int
    """The last token read."""
    query: str
    """The label of the queries: φ(Q) if they are features."""
    key: str
    texts: Texts
