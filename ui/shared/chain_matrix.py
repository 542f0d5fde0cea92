"""A matrix in the form that the step-by-step component draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viz.components.step_by_step.chain import DrawnMatrix, rows_of
from viz.matrices_svg import Table


def drawn_matrix(
    table: Table,
    *,
    shape: Sequence[int] | None = None,
    side: str = "",
    vector: str = "",
    usual: np.ndarray | None = None,
) -> DrawnMatrix:
    """Return the matrix of a table, which may be part of a matrix of this ``shape``. With ``usual`` it is editable."""
    return DrawnMatrix(
        name=table.name,
        values=rows_of(table.values),
        rows=table.rows,
        columns=table.columns,
        shape=table.values.shape if shape is None else shape,
        side=side,
        unit="share" if table.share else "",
        vector=vector,
        most=table.most,
        usual=None if usual is None else rows_of(usual),
    )
