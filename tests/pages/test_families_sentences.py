"""Two sentences on the page Families: a part of the encoder's map, one text for the others, and what is taken away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from model_runner.tokens import second_starts
from tests.pages.test_families import capture, opened
from tests.ui.driving import html, no_failure, payload
from tests.ui.taken import taken
from ui import view as ui_view

pytestmark = pytest.mark.table


def test_of_two_sentences_one_part_of_the_map_is_drawn_and_the_other_kinds_read_one_text():
    pair = "The dog ran home.[SEP]It was [MASK]."
    app = opened(family="encoder", text=pair, part="ba", head="1.2")
    no_failure(app)
    made = capture("encoder", pair)
    start, weights = second_starts(made.tokens), made.weights(1, 2).numpy()
    values = payload(app, "head_map")[1]["values"]
    assert np.isfinite(values[start:, :start]).all()
    assert np.isnan(values[:start]).all()
    assert np.isnan(values[:, start:]).all()
    np.testing.assert_allclose(values[start:, :start], weights[start:, :start], atol=1e-3)
    assert "Of A’s attention" in html(app)
    assert "SEP" not in "".join(payload(app, "family_masks")[0]["kinds"][0]["tokens"])


@pytest.mark.parametrize("address", [{"family": "two"}, {"family": "prefix"}, {"family": "encoder", "part": "ab"}])
def test_the_python_lines_give_the_map_and_the_mask_that_are_drawn(monkeypatch, address):
    kept: list[Any] = []
    monkeypatch.setattr(ui_view, "show_take_away", lambda here, shown: kept.append(taken(here, shown)))
    app = opened(text="The dog ran home.[SEP]It was late.", word="1", **address)
    no_failure(app)
    take = kept[-1]
    names: dict[str, Any] = {}
    exec(compile(take.snippet, "snippet", "exec"), names)
    np.testing.assert_allclose(names["values"], payload(app, "head_map")[1]["values"], atol=1e-3)
    np.testing.assert_array_equal(names["mask"], take.arrays["mask"])
