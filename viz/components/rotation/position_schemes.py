"""Five position encodings: each one's term of q·k as a matrix and against distance, and its properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import ColoredPicture, Floats, Texts
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "enters": N_("enters"),
    "stores": N_("stores"),
    "depends": N_("depends on"),
    "extrapolates": N_("beyond the trained length"),
    "axes": N_("queries ↓, keys →, 0 to {count}"),
    "distance": N_("distance in tokens"),
    "matrix": N_("{scheme}: the position term of every query and key"),
    "curve": N_("{scheme} against distance: {zero} at 0, {one} at 1, {last} at {far}"),
}

SOURCE = read_source(Path(__file__).parent, "position_schemes", '<div class="position-schemes"></div>\n')


@dataclass(frozen=True, eq=False)
class SchemePicture:
    """A scheme's texts and numbers."""

    name: str
    label: str
    formula: str
    note: str
    enters: str
    stores: str
    depends: str
    extrapolates: str
    paper: str
    matrix: Floats
    """[n, n], NaN where masked."""
    curves: Floats
    """[lines, distances]"""
    steps: bool = False
    """The curves are drawn as steps, for values that are constant over several distances."""


@dataclass(frozen=True, eq=False)
class PositionSchemesPicture(ColoredPicture):
    """The schemes in order. Their matrices and curves are sent as matrix0, curves0, matrix1, …"""

    schemes: Sequence[SchemePicture]
    texts: Texts

    def __post_init__(self) -> None:
        """Check the shapes."""
        for one in self.schemes:
            if one.matrix.ndim != 2 or one.curves.ndim != 2:
                raise ValueError(f"{one.name}: matrix {one.matrix.shape} and curves {one.curves.shape}")

    def numbered_arrays(self) -> dict[str, Floats]:
        """Matrix and curves of each scheme, by index."""
        arrays = {f"matrix{place}": one.matrix for place, one in enumerate(self.schemes)}
        return arrays | {f"curves{place}": one.curves for place, one in enumerate(self.schemes)}
