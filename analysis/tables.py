"""Values with their labels as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd

from analysis.head_map import HeadMap
from analysis.read_head import ReadHead, maps_of, positions

N_ = str  # marks a text for Babel without translating it here

CELLS = {
    "max": N_("each cell is the largest of {rows} × {columns}"),
    "mean": N_("each cell is the mean of {rows} × {columns}"),
}


def labelled(values: np.ndarray, rows: Mapping[int, str], columns: Mapping[int, str]) -> pd.DataFrame:
    """A table of these values, position → label on both sides; repeated labels are distinguished by position."""
    numbered = [[f"{position} {label}" for position, label in labels.items()] for labels in (rows, columns)]
    return pd.DataFrame(values, index=numbered[0], columns=numbered[1])


def map_table(view: HeadMap) -> pd.DataFrame:
    """The numbers of a map, by position and label; if its cells are pooled, the labels say how."""
    table = labelled(view.values, *positions(view))
    if view.how != "exact":
        table.attrs["cells"] = view.how, view.pool
    return table


def of_cells(heading: str, table: pd.DataFrame, translate: Callable[[str], str]) -> str:
    """The heading of a map's table, with what a cell is if not a single pair."""
    how, (rows, columns) = table.attrs.get("cells", ("exact", (1, 1)))
    return heading if how == "exact" else f"{heading} · {translate(CELLS[how]).format(rows=rows, columns=columns)}"


def tables_of_head(read: ReadHead) -> dict[str, pd.DataFrame]:
    """The numbers of the map in view; for a difference, also both heads' own."""
    return {name: map_table(view) for name, view in maps_of(read).items()}


def side_by_side(tables: Mapping[str, pd.DataFrame], names: Iterable[str]) -> pd.DataFrame:
    """The tables of these names as one: each row once, and each table's columns after its name; NaN if missing."""
    return pd.concat([tables[name].add_prefix(f"{name} · ", axis=1) for name in names], axis=1)


def as_csv(tables: Mapping[str, pd.DataFrame], rows: Callable[[], pd.DataFrame] | None) -> tuple[pd.DataFrame, str]:
    """The contents of a CSV: ``rows``, or the first table; and a note if there are others."""
    if rows is not None:
        return rows(), ""
    heading, table = next(iter(tables.items()))
    return table, f" · here: {heading}, of {len(tables)} tables that the NPZ has" if len(tables) > 1 else ""


def table_arrays(tables: Iterable[pd.DataFrame]) -> dict[str, np.ndarray]:
    """For each table its numbers in float64 and its row and column names: ``table_0``, ``rows_0``, ``columns_0``."""
    found: dict[str, np.ndarray] = {}
    for number, table in enumerate(tables):
        found[f"table_{number}"] = table.to_numpy(np.float64)
        found[f"rows_{number}"] = np.array(list(map(str, table.index)), dtype=np.str_)
        found[f"columns_{number}"] = np.array(list(map(str, table.columns)), dtype=np.str_)
    return found
