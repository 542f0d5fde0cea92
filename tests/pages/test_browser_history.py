"""Back and Forward in a real browser: what is shown is what the address says."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.pages.visiting import (
    CAPITAL,
    CAPITAL_TOKENS,
    click_head,
    expect_address,
    expect_head,
    expect_tokens,
    text_box,
    type_text,
    visit,
    wait_for_heads,
)


def chosen(page, name):
    return page.get_by_role("radio", name=name, exact=True)


def test_back_and_forward_show_the_heads_the_text_and_the_controls_of_their_address(page, server):
    wait_for_heads(visit(page, server, layer="1", head="1"))
    click_head(page, 2, 5)
    expect_address(page, layer="2", head="5")
    chosen(page, "scores").click()
    expect_address(page, layer="2", head="5", what="scores")
    type_text(page, CAPITAL)
    expect_address(page, layer="2", head="5", what="scores", text=CAPITAL)
    expect_tokens(page, *CAPITAL_TOKENS)

    page.go_back()
    expect(text_box(page)).to_have_value("The dog chased the squirrel because it")
    expect(page.locator(".token-strip .chip")).to_have_count(8)
    page.go_back()
    expect(chosen(page, "weights")).to_be_checked()
    expect_head(page, "L2H5")
    page.go_back()
    expect_head(page, "L1H1")
    expect(page.locator(".head-grid")).to_have_attribute("data-selected", "1,1")
    expect_address(page, layer="1", head="1")

    for _ in range(3):
        page.go_forward()
    expect_tokens(page, *CAPITAL_TOKENS)
    expect(text_box(page)).to_have_value(CAPITAL)
    expect(chosen(page, "scores")).to_be_checked()
    expect_head(page, "L2H5")
    expect_address(page, layer="2", head="5", what="scores", text=CAPITAL)


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
