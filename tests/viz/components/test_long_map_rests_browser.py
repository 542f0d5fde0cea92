"""Where the long map comes to rest: whole tokens, as in the address, and the pinned look marked in its list."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.viz.components.clock import settle
from tests.viz.components.mounted import answer
from tests.viz.components.test_long_map import whole_map
from tests.viz.components.test_long_map_browser import STRONG, canvas, cell, told, view
from tests.viz.components.test_long_map_browser import opened as opened  # the fixture
from viz.components.long_map.long_map import TEXTS

pytestmark = pytest.mark.browser


def test_where_the_view_rests_is_what_the_address_shows(opened: Any) -> None:
    page = opened(selected=None)
    for _ in range(9):
        canvas(page).press("+")
    page.mouse.move(*cell(page, 300, 300))
    page.mouse.down()
    page.mouse.move(*(place + 37 for place in cell(page, 300, 300)), steps=3)
    page.mouse.up()
    before = view(page)
    window = told(page)[-1]
    assert view(page) == tuple(window)
    assert view(page) == pytest.approx(before, abs=1)  # less than a token further


@pytest.mark.parametrize("looks_at", [None, (STRONG[0], STRONG[1])])
def test_a_look_of_the_list_that_is_pinned_is_marked_in_a_copied_address_too(opened: Any, looks_at: Any) -> None:
    looks = json.dumps([
        {"query": STRONG[0], "key": STRONG[1], "weight": 1.0}, {"query": 500, "key": 20, "weight": 0.5},
    ]).encode()  # fmt: skip
    page = opened(selected=looks_at, looks=looks)
    rows = page.locator(".long-map .looks button")
    rows.first.wait_for()
    if looks_at is None:
        assert page.locator(".looks [aria-current]").count() == 0
        rows.first.click()
    settle(page)
    assert [row.get_attribute("aria-current") for row in rows.all()] == ["true", None]
    if looks_at is None:
        shown = view(page)
        assert told(page)[-1] == list(shown)
        assert view(page) == shown  # a jump ends on whole tokens at once
    page.keyboard.press("Escape")
    canvas(page).press("Escape")
    settle(page)
    assert page.locator(".looks [aria-current]").count() == 0


def test_the_list_of_looks_is_in_the_language_that_the_page_has_now(opened: Any) -> None:
    page = opened(looks=json.dumps([{"query": 500, "key": 20, "weight": 0.5}]).encode())
    row = page.locator(".long-map .looks button")
    row.wait_for()
    assert "distance 480" in row.inner_text()
    again = whole_map(ticket="t", texts=TEXTS | {"look": "{query} → {key}  {value} · 相距 {distance}"})
    answer(page, again)
    row.get_by_text("相距 480").wait_for()
