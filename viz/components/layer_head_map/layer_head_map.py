"""A number for every head of every layer, or for every layer and position, as coloured cells of one canvas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from viz.components.color_bar import Clipped, clipped, color_ends
from viz.components.picture import ColoredPicture, Floats, NumberKind, Parts, Texts, sent
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

SOURCE = read_source(Path(__file__).parent, "layer_head_map", '<div class="layer-head-map">\n</div>')

TEXTS: dict[str, str] = {
    "summary": N_("{title}: {rows} down, {columns} across. Arrow keys move, Enter opens a cell."),
    "rows": N_("layers"),
    "columns": N_("heads"),
    "cell": N_("{row}{column} · {value}"),
    "missing": N_("{row}{column} · {value}"),
    "undefined": N_("not defined here"),
    "shared": N_("{heads} share k and v"),
    "percent": N_("{number} %"),
}


@dataclass(frozen=True, eq=False)
class LayerHeadMapPicture(ColoredPicture):
    """A map of heads, or of other rows and columns. It sends `head`: [row, column] of a click.

    A signed scale runs from orange over the background's tone, at exactly 0, to indigo, with the larger of |low| and
    |high| at both ends. A sequential one runs from `low` to `high`. Values beyond are clipped, which the bar shows.
    Along `group_axis`, `group` adjacent heads share a key/value head: they are joined by a line, and the open head's
    group is marked; unless each head has its own, or all share one. Raises ValueError if labels do not match the
    values.

    Texts: as `TEXTS`. `cell`, and `missing` for a cell without a number, may use {row}, {column}, {value}, {row_index},
    {column_index}, counted from `first_column`, and, as a percentage of `whole`, {share}; `summary`, for screen
    readers, may use {title}, {rows} and {columns}.
    """

    values: Floats
    """[rows, columns], NaN where undefined."""
    title: str
    scale: Literal["signed", "sequential"]
    low: float
    high: float
    number: NumberKind
    open: Annotated[tuple[int, int], Parts(("row", "column"))] | None
    """The outlined cell."""
    texts: Texts
    row_labels: Sequence[str] | None = None
    """null for layers L0, L1, …."""
    column_labels: Sequence[str] | None = None
    """null for heads H0, H1, …; labels are slanted if they do not fit."""
    notes: Mapping[int, str] = field(default_factory=dict[int, str])
    """By row index, the text of a row without cells; it cannot be clicked."""
    words: Sequence[Sequence[str]] | None = None
    """[rows, columns]: words shown in the cells, which are then wider, instead of numbers; texts may use {word}."""
    whole: float | None = None
    """What a value is a share of."""
    max_height: int = 360
    group: int = 1
    group_axis: Literal["rows", "columns"] = "columns"
    shows: str = ""
    """Key of the page element that a click changes, to which a narrow page scrolls, or ""."""
    first_column: int = 0
    """Number of the first column, if columns are identified by number."""

    def __post_init__(self) -> None:
        """Check the labels, and make a signed scale symmetric."""
        rows, columns = self.values.shape
        for labels, count in ((self.row_labels, rows), (self.column_labels, columns)):
            if labels is not None and len(labels) != count:
                raise ValueError(f"{len(labels)} labels for {count} rows or columns of {rows} × {columns} values")
        low, high = color_ends(self.low, self.high, both_sides=self.scale == "signed")
        self._set(low=low, high=high if high > low else low + 1.0)

    @sent
    def clipped(self) -> Clipped:
        """Whether values lie beyond the ends."""
        return clipped(self.values, self.low, self.high)
