"""A matrix as the component of steps has it, in what JSON can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from viz.matrices_svg import Table

JSON = Any


def json_rows(values: np.ndarray) -> list[list[JSON]]:
    """Numbers as JSON has them: −∞ is None, ∞ and NaN are words."""
    return [[_one(float(value)) for value in row] for row in values]


def _one(value: float) -> JSON:
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return None if value < 0 else "Infinity"
    return value


def json_matrix(table: Table, *, side: str = "", vector: str = "", usual: np.ndarray | None = None) -> dict[str, JSON]:
    """A whole matrix; one whose ``usual`` numbers are given can be edited."""
    return {
        "name": table.name, "values": json_rows(table.values), "shape": list(table.values.shape), "side": side,
        "rows": list(table.rows), "columns": list(table.columns), "unit": "share" if table.share else "",
        "most": table.most,
        "vector": vector, "usual": None if usual is None else json_rows(usual),
    }  # fmt: skip  # a pair a name
