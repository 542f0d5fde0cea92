"""One token's query and key, pair by pair, before and after the rotation; a slider turns all pairs in the browser.

Sends "position", the slider's when released, "span", its range, and "pair", the pinned one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from viz.components.picture import ColoredPicture, Floats, Ints, Texts, sent
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "summary": N_(
        "{head}, {token} at position {position}: {count} pairs of q and k; the fastest has turned by {fast}, "
        "the slowest by {slow}."
    ),
    "position": N_("position"),
    "range": N_("positions the slider reaches"),
    "own": N_("back to {position}"),
    "play": N_("let it turn"),
    "pause": N_("stop"),
    "hint": N_(
        "Each dial is a pair of dimensions of {token}: query q blue, key k red, faint before the turn, full after it. "
        "Rim: the longest pair ({q} and {k}); dots: direction."
    ),
    "fastest": N_("fastest"),
    "slowest": N_("slowest"),
    "pair": N_(
        "Pair {i}, dimensions {a} and {b}: {position} × {theta} = {angle} rad, {turns} turns. "
        "One turn takes {wavelength} tokens. ‖q‖ {q}, ‖k‖ {k}."
    ),
    "equal": N_(
        "Turned to their own position {position}, q and k equal the captured vectors: largest difference {difference}."
    ),
    "beyond": N_("Position {position} lies beyond the {context} positions that this model was built for."),
    "never": N_("{count} of {total} pairs do not complete one turn within the context."),
    "wavelength_axis": N_("wavelength: tokens of one full turn, 2π/θ (logarithmic)"),
    "length_axis": N_("length of the pair"),
    "context": N_("context {count}"),
    "here": N_("position {position}"),
}

FARTHEST = 4  # multiples of the context that the slider reaches
NEAR = 64  # positions of its finest range, more if the text is longer
Span = Literal["near", "context", "far"]  # ranges of a slider: the text, the model's context, beyond

SOURCE = read_source(Path(__file__).parent, "rotation", '<div class="rotation"></div>\n')


@dataclass(frozen=True, eq=False)
class RotationPicture(ColoredPicture):
    """Pairs of a query and a key before the rotation, fastest first, turning by position × `theta`.

    Raises ValueError if shapes do not match.
    """

    head: str
    token: str
    own: int
    """The token's position."""
    position: int
    """The initial one, in the range `span` or as wide a range as it needs."""
    context: int
    """The model's context length."""
    q: Floats
    """[pairs, 2]"""
    k: Floats
    theta: Floats
    dimensions: Ints
    """[pairs, 2]: the dimensions of each pair."""
    factor: float
    """Factor by which the rotation scales."""
    difference: str
    """Largest deviation of the rotated vectors from the captured ones, in words."""
    texts: Texts
    span: Span = "near"
    pair: int | None = None
    """The pinned pair."""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check the shapes."""
        shapes, n_pairs = (self.q.shape, self.k.shape, self.dimensions.shape), len(self.theta)
        if set(shapes) != {(n_pairs, 2)}:
            raise ValueError(f"{n_pairs} frequencies, but q, k and dimensions are {shapes}")

    @sent
    def near(self) -> int:
        """Positions of the finest range, more if the text is longer."""
        return max(NEAR, self.own + 1)

    @sent
    def farthest(self) -> int:
        """Positions that the slider reaches."""
        return max(FARTHEST * self.context, self.position + 1)
