"""Back and Forward in a real browser: what is shown is what the address says."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.pages.visiting import (
    CAPITAL,
    CAPITAL_TOKENS,
    choose_display,
    click_head,
    expect_address,
    expect_head,
    expect_tokens,
    text_box,
    type_text,
    visit,
    wait_for_heads,
    wait_for_rest,
)


def test_back_and_forward_show_the_heads_the_text_and_the_controls_of_their_address(page, server):
    wait_for_heads(visit(page, server, layer="1", head="1"))
    click_head(page, 2, 5)
    expect_address(page, layer="2", head="5")
    choose_display(page, "map", "scores")
    expect_address(page, layer="2", head="5", **{"heads.what": "scores"})
    expect(page.get_by_role("button", name="scores ×")).to_be_visible()
    type_text(page, CAPITAL)
    expect_address(page, layer="2", head="5", text=CAPITAL, **{"heads.what": "scores"})
    expect_tokens(page, *CAPITAL_TOKENS)

    page.go_back()
    expect(text_box(page)).to_have_value("The dog chased the squirrel because it")
    expect(page.locator(".token-strip .chip")).to_have_count(8)
    page.go_back()
    expect(page.get_by_role("button", name="scores ×")).to_have_count(0)
    expect_head(page, "L2H5")
    page.go_back()
    expect_head(page, "L1H1")
    expect(page.locator(".head-grid")).to_have_attribute("data-selected", "1,1")
    expect_address(page, layer="1", head="1")

    for _ in range(3):
        page.go_forward()
    expect_tokens(page, *CAPITAL_TOKENS)
    expect(text_box(page)).to_have_value(CAPITAL)
    expect(page.get_by_role("button", name="scores ×")).to_be_visible()
    expect_head(page, "L2H5")
    expect_address(page, layer="2", head="5", text=CAPITAL, **{"heads.what": "scores"})


def test_back_from_another_page_shows_the_one_before_as_it_was(page, server):
    wait_for_heads(visit(page, server, layer="1", head="1"))
    page.get_by_role("link", name="Inside a cell", exact=True).click()
    page.locator(".cell-steps[data-painted]").wait_for()
    expect_address(page, layer="1", head="1")
    type_text(page, CAPITAL)
    expect_tokens(page, *CAPITAL_TOKENS)
    expect_address(page, layer="1", head="1", text=CAPITAL)
    page.go_back()
    expect(page.locator(".token-strip .chip")).to_have_count(8)
    page.go_back()
    wait_for_heads(page)
    expect_head(page, "L1H1")
    expect_address(page, layer="1", head="1")


@pytest.mark.long
def test_a_long_text_is_in_a_copied_address(page, new_page, server):
    wait_for_heads(visit(page, server, layer="1", head="1"))
    long = "\n".join(f"{number * number} squirrels and 北京 & <b> +%20" for number in range(40))
    type_text(page, long)
    expect(page).to_have_url(re.compile("textz="))
    assert len(page.url) < 8000
    other = new_page()
    other.goto(page.url)
    expect(text_box(other)).to_have_value(long)
    expect(other.locator(".token-strip .chip").first).to_be_visible()


@pytest.mark.long
def test_all_settings_of_a_film_are_one_step_away_and_one_back(page, server):
    visit(page, server, "film", **{"film.steps": "3", "film.frame": "1"})
    page.locator(".film[data-painted]").wait_for()
    page.get_by_role("button", name="all settings").click()
    page.locator(".sampling-bench").wait_for()
    wait_for_rest(page)
    page.go_back()
    expect(page).to_have_url(re.compile("/film"))
    page.locator(".film[data-painted]").wait_for()


INSIDE = """() => {
  const box = document.querySelector(".atlas-title").getBoundingClientRect()
  const range = document.createRange()
  range.selectNodeContents(document.querySelector(".atlas-title").firstChild)
  const title = range.getBoundingClientRect()
  const opener = document.querySelector("[data-testid=stExpandSidebarButton]")?.getBoundingClientRect()
  return title.left >= box.left && title.right <= box.right + 1 && title.bottom <= box.bottom + 2 &&
    !(opener && opener.right > title.left && opener.bottom > title.top)
}"""


@pytest.mark.long
def test_the_title_is_never_cut_nor_covered(page, server):
    visit(page, server, "cell")
    page.locator(".cell-steps[data-painted]").wait_for()
    for width in (1440, 1280, 1024):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(300)
        assert page.evaluate(INSIDE), width
    page.get_by_test_id("stSidebar").hover()
    page.get_by_test_id("stSidebarCollapseButton").locator("button").click()
    page.get_by_test_id("stExpandSidebarButton").wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate(INSIDE)
