"""Activation patching in a browser: the map is clicked and hovered, work is stopped and goes on."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.pages.visiting import PATIENCE, visit, wait_for_rest

pytestmark = pytest.mark.browser


def cell(page, row: int, column: int) -> dict[str, float]:
    at = json.loads(page.locator(".layer-head-map").get_attribute("data-geometry") or "{}")
    return {"x": at["left"] + (column + 0.5) * at["pitchX"], "y": at["top"] + (row + 0.5) * at["pitchY"]}


@pytest.mark.long
def test_a_click_on_the_map_is_in_the_address_and_hovering_says_how_far_it_goes(server, page):
    visit(page, server, "edit_heads", heads="patching")
    root = page.locator(".layer-head-map[data-painted]")
    root.wait_for(timeout=PATIENCE)
    expect(page.get_by_role("button", name="stop")).to_have_count(0, timeout=PATIENCE)
    canvas = page.locator(".layer-head-map canvas")
    canvas.hover(position=cell(page, 0, 5))
    expect(page.locator(".layer-head-map .caption")).to_contain_text("100 % of the way")
    canvas.click(position=cell(page, 2, 5))
    page.wait_for_url(lambda url: "layer=2" in url and "query=5" in url, timeout=PATIENCE)
    expect(page.locator(".atlas-head b").first).to_have_text("L2")
    page.locator(".token-strip .chip.selected[data-position='5'], .token-strip [data-position='5']").first.wait_for()


@pytest.mark.long
def test_work_is_stopped_and_goes_on(server, page):
    visit(page, server, "edit_heads", heads="patching", text="One day a cat saw the moon and " * 20)
    stop = page.get_by_role("button", name="stop")
    stop.wait_for(timeout=PATIENCE)
    stop.click()
    page.get_by_role("button", name="go on").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    words = page.locator(".st-key-patch").inner_text()
    page.wait_for_timeout(1500)
    assert page.locator(".st-key-patch").inner_text() == words
    page.get_by_role("button", name="go on").click()
    stop.wait_for(timeout=PATIENCE)
