"""One query's scores by frequency: each pair's contribution to the chosen key's score, and to every key's.

Sends "key", the selected position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from viz.components.picture import Bytes, ColoredPicture, Floats, Ints, Parts, Texts
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
    "axis_map": N_("the same for every key (indigo adds, orange subtracts)"),
    "how": N_(
        "The rows at the top turn far with every step of distance; those at the bottom hardly turn within a text, so "
        "what differs there from key to key is content. The lowest strip is the sum, in a colour scale of its own."
    ),
}

SOURCE = read_source(Path(__file__).parent, "score_split", '<div class="score-split"></div>\n')


@dataclass(frozen=True, eq=False)
class ScoreSplitPicture(ColoredPicture):
    """What each pair of dimensions adds to a query's scores. Raises ValueError if shapes do not match.

    `contributions` and `rest` sum to each key's score; `key` is one of `positions`.
    """

    head: str
    query: Annotated[tuple[str, int], Parts(("label", "position"))]
    key: int
    labels: Sequence[str]
    positions: Ints
    theta: Floats
    contributions: Floats
    """[pairs, keys]"""
    rest: Floats
    """[keys]: what the `n_rest` dimensions outside the pairs add."""
    n_rest: int
    keep: Bytes
    """[keys]: 1 for visible keys."""
    softcap: float | None
    note: str
    """Names of the terms that were left out."""
    texts: Texts

    def __post_init__(self) -> None:
        """Check the shapes and the key."""
        contributions, n_keys = self.contributions.shape, len(self.positions)
        if contributions != (len(self.theta), n_keys) or {len(self.rest), len(self.keep), len(self.labels)} != {n_keys}:
            raise ValueError(f"contributions {contributions} for {len(self.theta)} frequencies and {n_keys} keys")
        if self.key not in self.positions:
            raise ValueError(f"the chosen key {self.key} is not among the drawn positions")
