"""Values with their labels as a table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd


def labelled(values: np.ndarray, rows: Mapping[int, str], columns: Mapping[int, str]) -> pd.DataFrame:
    """A table of these values, position → label on both sides; equal labels stay apart by their positions."""
    numbered = [[f"{position} {label}" for position, label in labels.items()] for labels in (rows, columns)]
    return pd.DataFrame(values, index=numbered[0], columns=numbered[1])
