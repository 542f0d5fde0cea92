"""A labelled matrix as a map on the screen, as a table and in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ui.shell.components import mount
from ui.shell.page import translated
from viz.components.layer_head_map import layer_head_map
from viz.matrices_svg import Table

N_ = str  # marks a text for Babel without translating it here

TEXTS = layer_head_map.TEXTS | {
    "summary": N_("{title}: {rows} down, {columns} across. Arrow keys move, Enter opens a cell."),
    "cell": N_("{row} · {column}: {value}"),
    "missing": N_("{row} · {column}: {value}"),
}


@dataclass(frozen=True, eq=False)
class NumberMap:
    """``most`` is the end of the colour scale: on both sides of 0, or above it if ``share`` (all values are weights in
    0..1).
    """

    title: str
    values: NDArray[np.floating]
    rows: Sequence[str]
    columns: Sequence[str]
    most: float
    share: bool = False
    axes: tuple[str, str] = ("", "")  # what rows and columns are, for screen readers
    texts: Mapping[str, str] = field(default_factory=dict[str, str])

    def payload(self, cell: tuple[int, int] | None, max_height: int = 360) -> bytes:
        """The component's payload, with this cell open."""
        scale: Literal["sequential", "signed"] = "sequential" if self.share else "signed"
        axes = {"rows": self.axes[0], "columns": self.axes[1]}
        return layer_head_map.LayerHeadMapPicture(
            self.values,
            title=self.title,
            scale=scale,
            low=0.0 if self.share else -self.most,
            high=self.most,
            number="percent" if self.share else "plain",
            open=cell,
            texts={**translated(TEXTS), **axes, **self.texts},
            row_labels=self.rows,
            column_labels=self.columns,
            max_height=max_height,
        ).packed()

    def table(self) -> pd.DataFrame:
        """The numbers as a table."""
        return pd.DataFrame(self.values, [*self.rows], [*self.columns])

    def matrix(self) -> Table:
        """The matrix for an SVG with several of them."""
        most = None if self.share else self.most
        return Table(self.title, self.rows, self.columns, self.values, share=self.share, most=most)


def show_number_map(
    shown: NumberMap,
    cell: tuple[int, int] | None,
    *,
    key: str,
    pick: Callable[[int, int], None],
    max_height: int = 360,
) -> bytes:
    """Show the map and return its payload; ``pick`` is called with the row and column of a click."""

    def choose(told: Sequence[int] | None) -> None:
        if told is not None:
            pick(int(told[0]), int(told[1]))

    payload = shown.payload(cell, max_height)
    mount(layer_head_map.SOURCE, payload, key=key, on={"head": choose})
    return payload
