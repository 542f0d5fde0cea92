"""The explanation beside the picture: it stays, and hides nothing, while its reader does what it says."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FloatRect, Locator, Page, ViewportSize, expect

from tests.pages.test_browser_room import LAPTOP, OVERLAPS, PHONE, PROJECTOR, SIDEWAYS, VIEWS
from tests.pages.visiting import (
    PATIENCE,
    address,
    choose_display,
    click_head,
    eventually,
    expect_address,
    expect_head,
    visit,
    wait_for_heads,
)
from tests.pages.visiting import wait_for_rest as rest
from ui.wording.i18n import catalog

pytestmark = pytest.mark.browser


def card(page: Page) -> Locator:
    return page.locator(".st-key-reading")


def box(part: Locator) -> FloatRect:
    found = part.first.bounding_box()
    assert found is not None
    return found


def told(page: Page) -> str:
    """What the card says, but for the line that names the head that is open."""
    return re.sub(r"L\d+H\d+[^\n]*\n", "", card(page).inner_text())


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.long), "zh"])
def test_it_stays_while_what_it_proposes_is_done_and_is_in_the_address(page, server, new_page, language):
    words = catalog(language).gettext
    lang = {} if language == "en" else {"lang": language}
    wait_for_heads(visit(page, server, **lang))
    page.get_by_role("button", name=words("Read this picture")).click()
    expect(card(page)).to_contain_text(words("Try this"))
    card(page).locator("pre").wait_for(timeout=PATIENCE)
    rest(page)
    before = told(page)
    page.get_by_role("button", name={"en": "induction", "zh": "归纳"}[language], exact=True).click()
    rest(page)
    click_head(page, 3, 1)
    expect_head(page, "L3H1")
    rest(page)
    choose_display(page, "grid", words("ranked"))
    rest(page)
    assert told(page) == before
    expect_address(page, **address(page.url) | {"reading": "1", "layer": "3", "head": "1"})
    other = new_page()
    other.goto(page.url)
    wait_for_heads(other)
    eventually(other, lambda: told(other), lambda text: text == before)
    page.get_by_role("link", name=words("Masks"), exact=True).click()
    page.locator(".mask-gallery").wait_for(timeout=PATIENCE)
    rest(page)
    assert told(page) != before  # another page's own
    page.go_back()
    eventually(page, lambda: told(page), lambda text: text == before)
    rest(page)
    page.get_by_role("button", name=words("Close"), exact=True).click()
    expect(card(page)).to_have_count(0)
    rest(page)
    assert "reading" not in address(page.url)


LOOKS = [
    pytest.param(path, place, picture, marks=[pytest.mark.long] if path or number else [])
    for path, views in VIEWS.items()
    for number, (place, picture) in enumerate(views.items())
]


@pytest.mark.long
@pytest.mark.parametrize("path, place, picture", LOOKS)
def test_it_lies_beside_the_picture_or_below_what_is_looked_at(new_page, server, path, place, picture):
    page = new_page(viewport=LAPTOP)
    page.goto(f"{server.url}/{path}?{place}&reading=1")
    page.locator(picture).first.wait_for(timeout=PATIENCE)
    card(page).wait_for(timeout=PATIENCE)
    rest(page)
    sizes: list[ViewportSize] = [LAPTOP, PROJECTOR]
    for size in sizes:
        page.set_viewport_size(size)
        page.wait_for_timeout(400)
        drawn, explained = box(page.locator(picture)), box(card(page))
        assert drawn["x"] + drawn["width"] <= explained["x"]
        assert explained["y"] + explained["height"] <= size["height"]
        assert (page.evaluate(SIDEWAYS), page.evaluate(OVERLAPS)) == (0, 0)
    page.set_viewport_size(PHONE)
    page.wait_for_timeout(400)
    assert page.evaluate(SIDEWAYS) == 0
    page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, main.scrollHeight)")
    page.wait_for_timeout(100)
    last = page.get_by_test_id("stMainBlockContainer")
    padding = last.evaluate("(block) => parseFloat(getComputedStyle(block).paddingBottom)")
    assert box(last)["y"] + box(last)["height"] - padding <= box(card(page))["y"] + 1  # nothing is hidden for good


def test_what_a_tap_changes_on_a_phone_comes_into_view_above_it(new_page, server):
    page = new_page(viewport=PHONE, has_touch=True)
    wait_for_heads(visit(page, server, layer="6", head="5", reading="1"))
    rest(page)
    page.locator(".head-grid canvas").tap(position={"x": 150, "y": 60})
    heading, explained = page.locator(".st-key-map_heading"), box(card(page))
    eventually(page, lambda: box(heading), lambda seen: 0 < seen["y"] < explained["y"] - seen["height"])
