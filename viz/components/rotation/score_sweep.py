"""Score against distance with fixed contents: the open head large, every head of its layer small beside it.

Sends "head", the one to open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import ColoredPicture, Floats, Ints, Texts
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "peak": N_("{head} scores highest at distance {peak}: {score}."),
    "peak_short": N_("highest at {peak}"),
    "none": N_("{head} has no softmax scores here."),
    "fact": N_("On this text it puts {fact} of its attention on the token before."),
    "at": N_("At distance {distance}: {score}."),
    "shared": N_("{heads} share their keys and values."),
    "axis_distance": N_("distance in tokens, from the key to the query"),
    "axis_score": N_("score before the softmax"),
    "how": N_(
        "All small panels span the same range of scores, each around its own middle: a flat line "
        "ignores the distance. Framed more strongly: heads that score highest at distance 1, the "
        "token before."
    ),
}

SOURCE = read_source(Path(__file__).parent, "score_sweep", '<div class="score-sweep"></div>\n')


@dataclass(frozen=True, eq=False)
class ScoreSweepPicture(ColoredPicture):
    """Scores by distance of every head of a layer, including the open one. Raises ValueError if shapes do not match."""

    layer: int
    head: int
    distances: Ints
    scores: Floats
    """[heads, distances], NaN where a head has none."""
    facts: Sequence[str]
    """Each head's attention on the previous token, in words, or empty."""
    notes: Sequence[str]
    """Whose contents were used."""
    texts: Texts
    group: int = 1
    """Adjacent heads that share a key/value head."""

    def __post_init__(self) -> None:
        """Check the shapes; no groups are drawn if all heads share one."""
        scores, facts = self.scores, self.facts
        n_heads = len(scores)
        if scores.shape[1:] != self.distances.shape or not 0 <= self.head < n_heads or len(facts) not in (0, n_heads):
            raise ValueError(
                f"scores {scores.shape}, {len(self.distances)} distances, {len(facts)} facts, head {self.head}"
            )
        self._set(group=self.group if self.group < n_heads else 1)
