"""Every page in the room there is: a phone, a window twice enlarged, a projector, a laptop, a large screen."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

from tests.pages.visiting import eventually, visit, wait_for_heads, wait_for_rest

PHONE = {"width": 390, "height": 844}


def top_of(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"]


def scrolled(page: Page) -> float:
    return page.get_by_test_id("stMain").evaluate("(main) => main.scrollTop")


def test_a_head_that_is_tapped_on_a_phone_comes_into_view(new_page, server):
    page = new_page(viewport=PHONE, has_touch=True)
    wait_for_heads(visit(page, server, layer="6", head="5"))
    wait_for_rest(page)
    grid, heading = page.locator(".head-grid canvas"), page.locator(".st-key-map_heading")
    assert scrolled(page) == 0
    assert top_of(heading) > PHONE["height"]
    grid.hover(position={"x": 60, "y": 60})
    grid.press("ArrowLeft")
    wait_for_rest(page)
    assert scrolled(page) == 0
    grid.tap(position={"x": 150, "y": 120})
    eventually(page, lambda: top_of(heading), lambda top: 0 < top < PHONE["height"] / 2)
    wait_for_rest(page)
    assert 0 < top_of(heading) < PHONE["height"] / 2
    page.set_viewport_size({"width": 1280, "height": 720})  # where nothing has to be sought
    before = scrolled(page)
    grid.click(position={"x": 100, "y": 100})
    wait_for_rest(page)
    assert scrolled(page) == before
