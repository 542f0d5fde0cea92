"""One token's query and key, pair by pair, before and after the rotation; a slider turns all pairs in the browser.

Sends "position", the place chosen, once the slider rests, "span", the range of the slider, and "pair", the one pinned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack
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
        "Each dial is a pair of dimensions of {token}, fastest first: its q blue, its k red, faint before the "
        "rotation. Rim: the longest pair ({q} and {k}); dots: the direction alone."
    ),
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

FARTHEST = 4  # contexts that the slider reaches
NEAR = 64  # positions of its finest range, more when the text is longer
Span = Literal["near", "context", "far"]  # the ranges of a slider: the text, what the model was built for, beyond

SOURCE = read_source(Path(__file__).parent, "rotation", '<div class="rotation"></div>\n')


def payload(
    *,
    head: str,
    token: str,
    own: int,
    position: int,
    span: Span = "near",
    context: int,
    q: NDArray[np.floating],
    k: NDArray[np.floating],
    theta: NDArray[np.floating],
    dimensions: NDArray[np.integer[Any]],
    factor: float,
    difference: str,
    pair: int | None = None,
    notes: Sequence[str] = (),
    texts: Mapping[str, str],
) -> bytes:
    """The pairs of `q` and `k` [pairs, 2] before the rotation, fastest first, turning by position × `theta`.

    `own` is the token's position, `position` the one shown first, in the range `span` or as wide a one as it needs;
    `context` is how many the model was built for, `dimensions` [pairs, 2] are each pair's coordinates, `factor` what
    the rotation stretches by, and `difference` how far the turned vectors are from the captured ones, in words.
    `pair` is the pinned one, if any.
    """
    n_pairs = len(theta)
    if not q.shape == k.shape == dimensions.shape == (n_pairs, 2):
        raise ValueError(f"{n_pairs} frequencies, but q {q.shape}, k {k.shape} and dimensions {dimensions.shape}")
    meta: dict[str, JSON] = {
        "head": head,
        "token": token,
        "own": own,
        "position": position,
        "span": span,
        "context": context,
        "near": max(NEAR, own + 1),
        "farthest": max(FARTHEST * context, position + 1),
        "factor": factor,
        "difference": difference,
        "pair": pair,
        "notes": list(notes),
        "texts": dict(texts),
        "palette": palette(),
    }
    vectors = {"q": q.astype(np.float32), "k": k.astype(np.float32), "theta": theta.astype(np.float32)}
    return pack(meta, vectors | {"dimensions": dimensions.astype(np.int32)})
