"""A key of the token lines is pinned with its query, by a click and by Enter."""

from __future__ import annotations

import pytest

from tests.viz.components.mounted import calls, facts
from tests.viz.components.test_token_lines import lines, row
from viz.components.token_lines.token_lines import SOURCE

pytestmark = pytest.mark.browser


def test_a_click_on_a_key_pins_it_with_the_query_and_a_second_releases_it(mount):
    page = mount(SOURCE, lines(offset=100, selected=104))
    row(page, "key", 2).click()
    page.mouse.move(1200, 700)
    assert (facts(page)["cell"], facts(page)["active"]) == ("104,102", "query 104")
    assert page.locator(".key.pinned").evaluate_all("rows => rows.map(row => row.dataset.position)") == ["102"]
    row(page, "key", 2).click()
    row(page, "key", 1).click()
    row(page, "query", 3).click()  # another query has another key
    assert calls(page, "cell") == [[104, 102], [104, None], [104, 101]]
    assert facts(page)["cell"] == "103,"


def test_enter_pins_the_key_that_the_arrows_reached_and_escape_releases_all(mount):
    page = mount(SOURCE, lines(offset=10, selected=14))
    page.locator(".scroller").focus()
    for key in ("ArrowRight", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    assert (calls(page, "cell"), facts(page)["cell"]) == ([[14, 13]], "14,13")
    page.keyboard.press("Enter")  # of the keys, Escape alone takes it back, as for a query
    assert facts(page)["cell"] == "14,13"
    page.keyboard.press("Escape")
    assert (calls(page, "query"), facts(page)["cell"]) == ([None], ",")
