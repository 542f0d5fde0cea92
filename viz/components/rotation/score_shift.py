"""The contents of one query and one key at any two positions: their score depends only on the difference.

Scores are computed in the browser by rotating both vectors. Sends "positions", the two selected ones when released, and
"span", the sliders' range.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from viz.components.picture import CellPlace, ColoredPicture, Floats, Parts, Texts, sent
from viz.components.rotation.rotation import NEAR, Span
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "query": N_("query {token} at position m"),
    "key": N_("key {token} at position n"),
    "lock": N_("keep the difference m − n"),
    "back": N_("back to {m} and {n}"),
    "range": N_("positions the sliders reach"),
    "score": N_("score(m = {m}, n = {n}) = {score}, difference m − n = {difference}"),
    "flat": N_("Moved together over the whole slider, this score changes by {spread}: rounding."),
    "deviation": N_(
        "Checked separately, by five shifts of at most 1,000 positions: over all pairs of tokens "
        "the change is at most {deviation}."
    ),
    "later": N_("Here the key comes after the query: this model masks such a cell, though its score exists."),
    "map": N_("{head}: the score for every m and n; equal differences lie on one diagonal."),
    "axis_m": N_("m, position of the query"),
    "axis_n": N_("n, position of the key"),
    "axis_difference": N_("difference m − n"),
    "together": N_("Both move: nothing changes"),
    "apart": N_("Only one moves: the score changes with the difference"),
}

SOURCE = read_source(Path(__file__).parent, "score_shift", '<div class="score-shift"></div>\n')


@dataclass(frozen=True, eq=False)
class ScoreShiftPicture(ColoredPicture):
    """A query and a key before the rotation, as pairs turning by position × `theta`.

    score = `scale` · Σ rotated q · rotated k + `rest`, then the soft-cap; `scale` includes the rotation's own scaling,
    and `rest` the dimensions that are not rotated. Raises ValueError if shapes do not match.
    """

    head: str
    tokens: Annotated[tuple[str, str], Parts(("query", "key"))]
    own: CellPlace
    """Positions of the two tokens."""
    positions: CellPlace
    """The initial ones, in the range `span` or as wide a range as they need."""
    context: int
    causal: bool
    q: Floats
    """[pairs, 2]"""
    k: Floats
    theta: Floats
    scale: float
    rest: float
    softcap: float | None
    deviation: str
    """The largest change of any score of this head under a common shift, in words."""
    texts: Texts
    span: Span = "near"
    """Beyond the context there is nothing to shift: "far" is shown as "context"."""
    lock: bool = True
    """Whether both move together."""

    def __post_init__(self) -> None:
        """Check the shapes; the slider reaches the positions shown."""
        if not self.q.shape == self.k.shape == (len(self.theta), 2):
            raise ValueError(f"{len(self.theta)} frequencies, but q {self.q.shape} and k {self.k.shape}")
        self._set(span="near" if self.span == "near" else "context", context=max(self.context, *self.positions, 1))

    @sent
    def near(self) -> int:
        """Positions of the finest range."""
        return max(NEAR, *(position + 1 for position in self.own))
