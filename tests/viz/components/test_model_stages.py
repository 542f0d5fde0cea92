"""The stages' payload: rows, vectors, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.viz.components.test_packing import unpacked
from viz.components.model_stages.model_stages import SOURCE, TEXTS, ModelStagesPicture, StageRow

ROWS = [
    StageRow("stage", "embedding", share=0.5),
    StageRow("block", "L0", block=0, open=True),
    StageRow("part", "FFN", depth=1),
]
COLUMNS = ["a", "b", "c", "d"]


def stages(n_rows: int = 3) -> bytes:
    """Three rows, the last two with a vector; or the first of them."""
    vectors = np.array([[np.nan] * 4, [1.0, -2, 3, 0], [0.0, 3, 1, 1]])
    return ModelStagesPicture(ROWS[:n_rows], vectors[:n_rows], columns=COLUMNS, texts=TEXTS).packed()


def test_rows_and_vectors_arrive_as_they_are():
    vectors = np.array([[1.0, -2.0], [np.nan, np.nan], [0.0, 3.0]])
    meta, arrays = unpacked(ModelStagesPicture(ROWS, vectors, columns=COLUMNS, texts=TEXTS).packed())
    np.testing.assert_array_equal(arrays["vectors"], vectors.astype(np.float32))
    assert [row["title"] for row in meta["rows"]] == ["embedding", "L0", "FFN"]
    assert [(row["block"], row["open"], row["share"]) for row in meta["rows"]] == [
        (None, False, 0.5), (0, True, None), (None, False, None),
    ]  # fmt: skip
    assert (meta["columns"], meta["max_height"]) == (COLUMNS, 780)


def test_every_row_has_a_vector_or_none_at_all():
    with pytest.raises(ValueError, match="2 vectors for 3 rows"):
        ModelStagesPicture(ROWS, np.zeros((2, 4)), columns=COLUMNS, texts=TEXTS).packed()


def test_no_name_is_cut_in_a_window_of_1100_pixels(mount):
    rows = [StageRow("part", "L0 attention", module="model.layers.0.self_attn · LlamaAttention", shapes="+0.20")] * 2
    columns = ["added by · module", "cosine with the residual stream", "", "what is added"]
    page = mount(
        SOURCE,
        ModelStagesPicture(rows, np.ones((2, 4)), columns=columns, texts=TEXTS).packed(),
        style="section{width:760px}",
    )
    cut = page.locator(".model-stages :is(b, code, .shapes)").evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display != 'inline')"
        ".map(one => one.textContent)"
    )
    assert cut == []
    head = page.locator(".model-stages .head .shapes")
    assert head.evaluate("one => getComputedStyle(one).textOverflow") == "clip"
    assert page.locator(".model-stages .rows .size").first.is_hidden()  # no row has one: the names have its room
