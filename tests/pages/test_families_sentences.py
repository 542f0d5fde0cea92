"""Two sentences on the page Families: a part of the encoder's map, while the other kinds read one text."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.segments import second_starts
from tests.pages.test_families import capture, opened
from tests.ui.driving import html, no_failure, payload

pytestmark = pytest.mark.table


def test_of_two_sentences_one_part_of_the_map_is_drawn_and_the_other_kinds_read_one_text():
    pair = "The dog ran home.[SEP]It was [MASK]."
    app = opened(family="encoder", text=pair, part="ba", head="1.2")
    no_failure(app)
    made = capture("encoder", pair)
    start, weights = second_starts(made), made.weights(1, 2).numpy()
    values = payload(app, "head_map")[1]["values"]
    assert np.isfinite(values[start:, :start]).all()
    assert np.isnan(values[:start]).all()
    assert np.isnan(values[:, start:]).all()
    np.testing.assert_allclose(values[start:, :start], weights[start:, :start], atol=1e-3)
    assert "Of A’s attention" in html(app)
    assert "SEP" not in "".join(payload(app, "family_masks")[0]["kinds"][0]["tokens"])
