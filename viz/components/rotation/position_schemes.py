"""Five ways of telling positions: each one's term of q·k as a matrix and against distance, and its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack
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
class Picture:
    """A scheme's words and numbers: `matrix` [n, n], NaN where masked, and `curves` [lines, distances].

    `steps` draws the curves as steps, for values that hold over several distances.
    """

    name: str
    label: str
    formula: str
    note: str
    enters: str
    stores: str
    depends: str
    extrapolates: str
    paper: str
    matrix: NDArray[np.floating]
    curves: NDArray[np.floating]
    steps: bool = False


def payload(*, pictures: Sequence[Picture], texts: Mapping[str, str]) -> bytes:
    """The pictures, in this order."""
    words = ("name", "label", "formula", "note", "enters", "stores", "depends", "extrapolates", "paper")
    schemes: list[JSON] = []
    arrays: dict[str, NDArray[Any]] = {}
    for i, picture in enumerate(pictures):
        if picture.matrix.ndim != 2 or picture.curves.ndim != 2:
            raise ValueError(f"{picture.name}: matrix {picture.matrix.shape} and curves {picture.curves.shape}")
        texts_of = {name: getattr(picture, name) for name in words}
        schemes.append(texts_of | {"steps": picture.steps})
        arrays |= {f"matrix{i}": picture.matrix.astype(np.float32), f"curves{i}": picture.curves.astype(np.float32)}
    meta: dict[str, JSON] = {"schemes": schemes, "texts": dict(texts), "palette": palette()}
    return pack(meta, arrays)
