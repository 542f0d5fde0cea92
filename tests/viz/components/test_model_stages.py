"""The stages' payload: rows, vectors, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.components.test_packing import unpacked
from viz.components.model_stages.model_stages import TEXTS, Row, payload

ROWS = [Row("stage", "embedding", share=0.5), Row("block", "L0", block=0, open=True), Row("part", "FFN", depth=1)]
COLUMNS = ["a", "b", "c", "d"]


def stages(n_rows: int = 3) -> bytes:
    """Three rows, the last two with a vector; or the first of them."""
    vectors = np.array([[np.nan] * 4, [1.0, -2, 3, 0], [0.0, 3, 1, 1]])
    return payload(ROWS[:n_rows], vectors[:n_rows], columns=COLUMNS, texts=TEXTS)


def test_rows_and_vectors_arrive_as_they_are():
    vectors = np.array([[1.0, -2.0], [np.nan, np.nan], [0.0, 3.0]])
    meta, arrays = unpacked(payload(ROWS, vectors, columns=COLUMNS, texts=TEXTS))
    np.testing.assert_array_equal(arrays["vectors"], vectors.astype(np.float32))
    assert [row["title"] for row in meta["rows"]] == ["embedding", "L0", "FFN"]
    assert [(row["block"], row["open"], row["share"]) for row in meta["rows"]] == [
        (None, False, 0.5), (0, True, None), (None, False, None),
    ]  # fmt: skip
    assert (meta["columns"], meta["max_height"]) == (COLUMNS, 780)


def test_every_row_has_a_vector_or_none_at_all():
    with pytest.raises(ValueError, match="2 vectors for 3 rows"):
        payload(ROWS, np.zeros((2, 4)), columns=COLUMNS, texts=TEXTS)
