"""The app on a projector of 1280×720: large, with nothing beside the picture, driven by a presenter's two buttons."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser import Server
from tests.pages.visiting import eventually, visit, wait_for_heads, wait_for_rest


def test_the_picture_grows_and_the_presenters_buttons_go_through_film_and_pages(page: Page, server: Server):
    page.set_viewport_size({"width": 1280, "height": 720})
    visit(page, server)
    wait_for_heads(page)
    before = page.locator(".head-map").bounding_box()
    page.locator("body").press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    assert before is not None
    eventually(
        page,
        lambda: (page.locator(".head-map").bounding_box() or before)["width"] / before["width"],
        lambda times: times > 1.15,
    )
    assert "projector" not in page.url
    page.keyboard.press("PageDown")
    page.wait_for_url("**/cell?**")
    wait_for_rest(page)
    page.keyboard.press("PageUp")
    page.wait_for_url(lambda url: "/cell" not in url)
    wait_for_rest(page)
    visit(page, server, "film")
    place = page.locator(".film .place")
    expect(place).to_have_text("the prompt")
    page.keyboard.press("PageDown")
    expect(place).to_have_text("token 1 of 20")
    page.keyboard.press("PageUp")
    expect(place).to_have_text("the prompt")
    wait_for_rest(page)
    page.keyboard.press("PageUp")  # there is no frame before it, but a page
    page.wait_for_url("**/next_token?**")
