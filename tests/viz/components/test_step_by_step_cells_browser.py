"""The numbers that a step makes, covered, explained and asked a class for, by pointer and by keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.viz.components import shim
from tests.viz.components.test_step_by_step import steps
from tests.viz.components.test_step_by_step_browser import WIDE, cell, told
from viz.components.step_by_step.step_by_step import SOURCE

pytestmark = pytest.mark.browser


def test_a_covered_cell_is_shown_by_a_click(mount):
    page = mount(SOURCE, steps(), style=WIDE)
    shown = cell(page, 1, 1).text_content()
    page.get_by_role("button", name="What comes here?").click()
    expect(cell(page, 1, 1)).to_have_text("?")
    cell(page, 1, 1).hover()
    expect(page.locator(".sum")).not_to_contain_text(shown)
    cell(page, 1, 1).click()
    expect(cell(page, 1, 1)).to_have_text(shown)
    expect(cell(page, 1, 2)).to_have_text("?")
    assert told(page) == [["ask", True]]
    page.get_by_role("button", name="show all numbers").click()
    expect(cell(page, 1, 2)).not_to_have_text("?")


def test_the_numbers_of_a_step_are_walked_over_explained_and_uncovered_by_keys(mount):
    page = mount(SOURCE, steps(step="q"), style=WIDE)
    page.locator(".stage .matrix:not(.result) input").last.focus()
    page.keyboard.press("Tab")
    expect(cell(page, 0, 0)).to_be_focused()
    expect(page.locator(".sum")).to_contain_text(cell(page, 0, 0).text_content())  # explained as it is reached
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")  # there is nothing above the first row
    expect(cell(page, 0, 2)).to_be_focused()
    expect(page.locator(".sum")).to_contain_text(cell(page, 0, 2).text_content())
    expect(page.locator(".spoken")).to_have_text(page.locator(".sum").text_content())
    page.keyboard.press("Tab")
    expect(page.locator(".result td:focus")).to_have_count(0)
    page.keyboard.press("Shift+Tab")
    expect(cell(page, 0, 2)).to_be_focused()
    page.get_by_role("button", name="What comes here?").click()
    expect(cell(page, 0, 2)).to_have_text("?")
    cell(page, 0, 2).focus()
    page.keyboard.press("Enter")
    expect(cell(page, 0, 2)).not_to_have_text("?")
    expect(cell(page, 0, 1)).to_have_text("?")


def test_a_class_is_asked_for_a_covered_number_with_all_it_is_made_of_and_a_second_click_shows_it(mount):
    page = mount(SOURCE, steps(ask=True, room=True), style=WIDE)
    asks = page.get_by_role("button", name="Ask the class for this number")
    expect(asks).to_be_hidden()
    cell(page, 2, 1).click()
    expect(cell(page, 2, 1)).to_have_text("?")
    page.mouse.move(5, 5)
    asks.click()
    made = ("[data-matrix=Q] td[data-row='2']", "[data-matrix=K] td[data-column='1']")
    rows = [page.locator(one).all_text_contents() for one in made]
    (event, value), *_more = told(page)
    assert (event, _more) == ("class", [])
    lines = value.pop("text").split("\n")
    assert value == {"step": "scores", "row": 2, "column": 1, "name": "Q Kᵀ, row q₂, column k₁", "decimals": 2}
    assert lines == [
        "Q Kᵀ: every query with every key", f"Q, q₂: {', '.join(rows[0])}", f"K, k₁: {', '.join(rows[1])}",
    ]  # fmt: skip
    cell(page, 2, 1).click()
    expect(cell(page, 2, 1)).not_to_have_text("?")
    expect(asks).to_be_hidden()
    page.evaluate("data => window.send('step_by_step', data)", shim.encoded(steps(ask=True, room=True, step="mask")))
    cell(page, 0, 3).click()  # −∞: nobody can type it
    expect(asks).to_be_hidden()
    cell(page, 3, 0).click()
    expect(asks).to_be_visible()
