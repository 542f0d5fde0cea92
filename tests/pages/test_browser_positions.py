"""The page Positions in a browser: dragging costs the server nothing, and the address follows once the slider rests."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.pages.visiting import PATIENCE, eventually, visit, wait_for_rest

pytestmark = pytest.mark.browser


def test_dragging_turns_the_dials_and_sends_nothing_until_it_is_released(server, page, frames):
    visit(page, server, "positions", layer="3", head="2")
    root = page.locator(".rotation[data-painted]")
    root.wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    box = page.locator(".rotation .slider").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.3 * box["width"], y)
    page.wait_for_timeout(300)
    page.mouse.down()
    frames.clear()
    painted = int(root.get_attribute("data-painted") or 0)
    for step in range(30, 80):
        page.mouse.move(box["x"] + step / 100 * box["width"], y)
    eventually(page, lambda: int(root.get_attribute("data-painted") or 0), lambda now: now > painted + 10)
    page.wait_for_timeout(500)
    assert frames == []
    position = root.get_attribute("data-position")
    assert 40 < int(position or 0) < 60
    page.mouse.up()
    page.wait_for_url(f"**at={position}**", timeout=PATIENCE)
    assert frames
    expect(root).to_have_attribute("data-position", position)


@pytest.mark.long
def test_a_click_on_a_key_of_the_map_is_in_the_address(server, page):
    visit(page, server, "positions", layer="3", head="2", positions="frequencies")
    root = page.locator(".score-split[data-painted]")
    root.wait_for(timeout=PATIENCE)
    at = json.loads(root.get_attribute("data-geometry") or "{}")
    page.locator(".score-split canvas").click(position={"x": at["map"] + 1.5 * at["column"], "y": at["top"] + 30})
    page.wait_for_url("**key=1**", timeout=PATIENCE)
    page.locator(".token-strip [data-position='1'].looked-at").wait_for()
