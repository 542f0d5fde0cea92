"""The page KV cache in a browser: the race is seen running to its end, and every view is whole without scrolling."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.pages.visiting import PATIENCE, eventually, visit

pytestmark = pytest.mark.browser

VIEWS = {"race": ".st-key-race_times", "bytes": ".st-key-kv_published", "what_if": ".st-key-kv_curve"}


def test_the_race_is_seen_to_run_and_ends_with_equal_tokens(server, page):
    visit(page, server, "kv_cache", kv="race", race_length="50")
    expect(page.locator(".atlas-lanes caption")).to_contain_text("equal: 50 of 50", timeout=PATIENCE)
    expect(page.get_by_role("button", name="Race again")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".st-key-race_speed .scatterlayer .trace")).to_have_count(2)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_whole_at_1440_by_900_and_not_wider_than_a_phone(server, page, view):
    visit(page, server, "kv_cache", kv=view, race_length="50")
    if view == "race":
        expect(page.get_by_role("button", name="Race again")).to_be_visible(timeout=PATIENCE)
    last = page.locator(VIEWS[view]).first  # while a run is under way, Streamlit may keep an older one beside it
    last.locator(".main-svg").first.wait_for(timeout=PATIENCE)
    box = last.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900
    assert box["x"] + box["width"] <= 1440
    page.set_viewport_size({"width": 390, "height": 844})
    eventually(page, lambda: page.evaluate("document.scrollingElement.scrollWidth"), lambda width: width <= 390)
