"""The list of heads: its text for each, for the open one and for those that it leaves out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.viz.components.mounted import calls
from tests.viz.components.test_packing import unpacked
from viz.components.head_bars.head_bars import SOURCE, TEXTS, HeadBarsPicture

RANKED = [(6, 3), (0, 1), (2, 2)]
SUMMARY = "Heads by how much ·it (7) looks at ·dog (2)"


def bars(**changes: Any) -> bytes:
    arguments: dict[str, Any] = {
        "heads": RANKED,
        "values": np.array([0.97, 0.5, 0.0004]),
        "total": 64,
        "most_left": 0.0003,
        "selected": (7, 7),
        "place": 12,
        "value": 0.0001,
        "texts": TEXTS | {"summary": SUMMARY},
        **changes,
    }
    return HeadBarsPicture(**arguments).packed()


def test_as_many_values_as_heads_are_needed():
    with pytest.raises(ValueError, match=r"3 heads but values of shape \(2,\)"):
        bars(values=np.zeros(2))
    assert unpacked(bars())[0]["heads"] == [[6, 3], [0, 1], [2, 2]]


@pytest.mark.browser
def test_each_head_has_its_number_a_bar_as_long_and_a_name_that_is_read_out(mount):
    page = mount(SOURCE, bars())
    rows = page.locator(".head-bars button")
    assert page.locator(".head-bars [role=listbox]").get_attribute("aria-label") == SUMMARY
    assert [row.get_attribute("aria-label") for row in rows.all()] == ["L6H3 97 %", "L0H1 50 %", "L2H2 0.04 %"]
    long, half, least = (row.locator(".bar").bounding_box()["width"] for row in rows.all())
    assert half / long == pytest.approx(50 / 97, rel=0.02)
    assert least == 2  # seen, however small
    rest = page.locator(".head-bars .rest")
    assert rest.inner_text() == "the open head: L7H7 · 0.01 %, place 12 of 64 · 61 other heads, each at most 0.03 %"
    rows.nth(1).click()
    assert rest.inner_text() == "61 other heads, each at most 0.03 %"
    assert page.locator(".head-bars [aria-selected=true]").all_inner_texts()[0].startswith("L0H1")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert calls(page, "head") == [[0, 1], [2, 2]]
