"""The page Heads in a real browser: what is clicked and typed is shown, and nothing else is asked for or said."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from analysis.examples import EXAMPLES
from tests.browser import PATIENCE, running_app
from tests.pages.visiting import (
    CAPITAL,
    CAPITAL_TOKENS,
    address,
    choose_display,
    click_cell,
    click_head,
    eventually,
    expect_address,
    expect_head,
    expect_tokens,
    text_box,
    type_text,
    visit,
    wait_for_heads,
    wait_for_rest,
)
from ui.state.url_state import DEFAULT_TEXT


def state(page) -> dict[str, object]:
    """What the page shows, as far as another browser must show the same."""
    picture = page.locator(".head-map")
    return {
        "head": page.locator(".atlas-head").first.inner_text(),
        "map": [picture.get_attribute("data-selected"), picture.get_attribute("data-window")],
        "said": picture.locator("canvas").first.get_attribute("aria-label"),
        "grid": page.locator(".head-grid").get_attribute("data-selected"),
        "tokens": page.locator(".token-strip .chip .label").all_inner_texts(),
        "caption": page.locator(".atlas-caption").all_inner_texts(),
        "text": text_box(page).input_value(),
        "pressed": page.locator("[data-testid=stButtonGroup] button[aria-checked=true]").all_inner_texts(),
    }


def test_the_app_opens_with_every_head_drawn_and_nothing_leaves_the_machine(page, server, watch, requests_outside):
    page.goto(server.url)
    wait_for_heads(page)
    expect(text_box(page)).to_have_value(EXAMPLES[0].text)
    expect_tokens(page, "The", "·pig", "·is", "·behind", "·the", "·dog", ".", "·It")
    expect(page.locator(".token-lines svg text").filter(has_text="·behind")).to_have_count(2)  # no word is cut
    expect(page.locator(".atlas-badge.ok")).to_contain_text("verified")
    expect(page.locator(".atlas-next tbody tr")).to_have_count(6)
    for part in (".head-grid canvas", ".head-map canvas"):
        box = page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 900, "seen whole without scrolling"
    assert requests_outside == []
    assert watch.errors == []


def test_clicks_open_heads_and_pin_tokens_and_cells_and_another_browser_shows_the_same(page, server, new_page):
    wait_for_heads(visit(page, server))
    for layer, head in ((1, 1), (2, 5), (1, 1), (2, 5)):  # the same again after another
        click_head(page, layer, head)
        expect_head(page, f"L{layer}H{head}")
    page.locator(".token-strip .chip").nth(4).click()
    expect(page.locator(".atlas-head .atlas-q")).to_have_text("“the”")
    expect(page.locator(".token-lines")).to_have_attribute("data-pinned", "4")
    expect(page.locator(".head-map")).to_have_attribute("data-selected", "4,")
    click_cell(page, 5, 3, 8)
    expect(page.locator(".atlas-head .atlas-q")).to_have_text("“squirrel”")
    expect(page.locator(".atlas-head .atlas-k")).to_have_text("“chased”")
    choose_display(page, "map", "scores")
    expect_address(page, layer="2", head="5", query="5", key="3", **{"heads.what": "scores"})
    choose_display(page, "grid", "ranked")
    expect_address(page, layer="2", head="5", query="5", key="3", **{"heads.what": "scores", "heads.order": "rank"})
    other = new_page()
    other.goto(page.url)
    wait_for_heads(other)
    expect_head(other, "L2H5")
    shown = state(page)
    eventually(other, lambda: state(other), lambda found: found == shown)
    assert address(other.url) == address(page.url)


@pytest.mark.long
def test_a_key_of_the_lines_is_pinned_by_a_click_and_by_enter_as_a_cell_of_the_map_is(page, server):
    wait_for_heads(visit(page, server, layer="3", head="7", query="5"))
    pinned = page.locator(".token-lines .key.pinned")
    page.locator(".token-lines .key[data-position='3']").click()
    expect(pinned).to_have_attribute("data-position", "3")
    expect(page.locator(".atlas-head .atlas-k")).to_have_text("“chased”")
    expect(page.locator(".head-map")).to_have_attribute("data-selected", "5,3")
    expect_address(page, query="5", key="3")
    page.locator(".token-lines .scroller").focus()
    page.mouse.move(2, 2)
    for key in ("ArrowRight", "ArrowUp", "Enter"):  # from the pinned query to the key beside it, and to the one before
        page.keyboard.press(key)
    expect(page.locator(".atlas-head .atlas-k")).to_have_text("“the”")
    expect_address(page, query="5", key="4")
    click_cell(page, 6, 1, 8)
    expect(pinned).to_have_attribute("data-position", "1")  # and what the map pins is pinned here


@pytest.mark.long
def test_the_map_of_a_clicked_head_comes_before_the_page(page, server):
    maps: list[bool] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: maps.append(b"head_map" in frame)))
    wait_for_heads(visit(page, server, layer="3", head="7"))
    wait_for_rest(page)
    maps.clear()
    click_head(page, 2, 1)
    expect_head(page, "L2H1")
    wait_for_rest(page)
    assert maps.index(True) < 25  # its own part of the page's messages
    assert len(maps) > 3 * maps.index(True)  # and then all of them


@pytest.mark.long
def test_the_first_page_is_found_by_its_name_too(page, server):
    wait_for_heads(visit(page, server, "heads", layer="2", head="5", text=CAPITAL))
    expect_head(page, "L2H5")
    expect_tokens(page, *CAPITAL_TOKENS)
    expect(page.get_by_text("Page not found")).to_have_count(0)
    assert not urlsplit(page.url).path.strip("/")


def test_the_keyboard_opens_heads_and_moves_and_clears_the_pin(page, server):
    wait_for_heads(visit(page, server, layer="3", head="3"))
    page.locator(".head-grid canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect_head(page, "L4H4")
    page.locator(".head-map canvas").first.focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".atlas-head .atlas-q")).to_have_text("“because”")
    page.keyboard.press("Escape")
    expect(page.locator(".atlas-caption").filter(has_text="or a token to pin it")).to_be_visible()
    expect_address(page, layer="4", head="4", query="none")


@pytest.mark.long
def test_a_text_that_is_typed_is_shown_and_stays_on_another_page(page, server):
    wait_for_heads(visit(page, server))
    type_text(page, CAPITAL)
    expect_tokens(page, *CAPITAL_TOKENS)
    expect_address(page, text=CAPITAL)
    page.get_by_role("link", name="Inside a cell", exact=True).click()
    page.locator(".cell-steps[data-painted]").wait_for()
    expect_tokens(page, *CAPITAL_TOKENS)
    expect(text_box(page)).to_have_value(CAPITAL)
    page.get_by_role("link", name="Heads", exact=True).click()
    wait_for_heads(page)
    expect_tokens(page, *CAPITAL_TOKENS)
    expect_address(page, text=CAPITAL)


@pytest.mark.long
def test_two_readers_never_see_each_others_text(new_page, server):
    mine, yours = new_page(), new_page()
    wait_for_heads(visit(mine, server))
    wait_for_heads(visit(yours, server))
    type_text(mine, "The old queen said no")
    type_text(yours, "The red bird said no")
    expect_tokens(mine, "The", "·old", "·queen", "·said", "·no")
    expect_tokens(yours, "The", "·red", "·bird", "·said", "·no")
    expect_address(mine, text="The old queen said no")
    expect_address(yours, text="The red bird said no")
    assert "·bird" not in mine.content()
    assert "·queen" not in yours.content()


def test_the_language_switch_changes_the_words_and_keeps_the_picture(page, server):
    wait_for_heads(visit(page, server, layer="3", head="7"))
    page.get_by_role("radio", name="简体中文").click()
    expect_address(page, layer="3", head="7", lang="zh")
    expect(page.locator(".atlas-title")).not_to_contain_text("Which token looks at which?")
    expect_head(page, "L3H7")
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    page.get_by_role("radio", name="English").click()
    expect(page.locator(".atlas-title")).to_contain_text("Which token looks at which?")


@pytest.mark.long
def test_the_theme_switch_repaints_in_the_dark_and_keeps_the_picture(page, server):
    wait_for_heads(visit(page, server, layer="3", head="7"))
    expect(page.locator(".head-map")).to_have_attribute("data-theme", "light")
    page.locator(".theme-switch [data-choice=dark]").click()
    expect(page.locator(".head-map")).to_have_attribute("data-theme", "dark")
    expect_head(page, "L3H7")


@pytest.mark.parametrize("path", ["", "cell"])
def test_on_a_phone_nothing_is_wider_than_the_screen_and_a_thumb_works(new_page, server, path):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit(page, server, path, layer="3", head="7")
    page.locator(".token-strip[data-painted]").wait_for()
    page.locator(f".{'cell-steps' if path else 'head-map'}[data-painted]").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".token-strip .chip").nth(2).tap()
    expect(page.locator(".token-strip .chip").nth(2)).to_have_attribute("aria-selected", "true")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("path, parts", [("positions", {}), ("kv_cache", {"kv_cache.view": "what_if", "lang": "zh"})])
def test_every_choice_of_a_row_is_on_a_phones_screen(new_page, server, path, parts):
    page = visit(new_page(viewport={"width": 390, "height": 844}), server, path, **parts)
    rows = page.locator("[data-testid=stMain] [data-testid=stButtonGroup] button")
    rows.nth(5).wait_for(timeout=PATIENCE)
    assert max(rows.evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")) <= 390


@pytest.mark.long
def test_a_word_is_explained_to_a_tap_in_the_readers_language(new_page, server):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    wait_for_heads(visit(page, server, layer="3", head="7", lang="zh"))
    words = page.locator(".atlas-head > span").first
    words.scroll_into_view_if_needed()
    x, y = words.evaluate(
        """node => {
            const range = document.createRange()
            range.setStart(node.firstChild, node.firstChild.data.indexOf("熵"))
            range.setEnd(node.firstChild, node.firstChild.data.indexOf("熵") + 1)
            const box = range.getBoundingClientRect()
            return [box.x + box.width / 2, box.y + box.height / 2]
        }"""
    )
    page.touchscreen.tap(x, y)
    expect(page.locator(".glossary .note h3")).to_have_text("熵 entropy")
    expect(page.locator(".glossary .note p")).to_contain_text("份额有多分散")
    page.touchscreen.tap(380, 10)
    expect(page.locator(".glossary .note")).to_be_hidden()


@pytest.mark.long
def test_a_page_opened_first_at_its_own_address_has_its_frame(tmp_path, new_page):
    with running_app(tmp_path / "log.txt") as fresh:
        page = visit(new_page(), fresh, "cell", layer="2", head="1")
        page.locator(".cell-steps[data-painted]").wait_for()
        expect(page.get_by_test_id("stException")).to_have_count(0)
        expect(text_box(page)).to_have_value(DEFAULT_TEXT)
        page.close()  # before its server goes


def test_a_click_sends_what_changes_and_a_page_that_lost_a_part_asks_for_it(page, server, watch):
    """Scripts, thumbnails and style sheet are not sent again: with them a click was a megabyte."""
    sent: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(len(frame))))
    visit(page, server, text=" and".join(["one"] * 64))
    wait_for_heads(page)
    wait_for_rest(page)
    for layer, head in ((2, 5), (1, 3)):  # with the first after the page reached the server, all of it comes once more
        sent.clear()
        click_head(page, layer, head)
        expect_head(page, f"L{layer}H{head}")
        page.wait_for_timeout(300)  # the page's own run follows that of the head
        wait_for_rest(page)
    assert 20_000 < sum(sent) < 150_000
    worn = "getComputedStyle(document.querySelector('.atlas-title')).lineHeight"
    dressed = page.evaluate(worn)
    page.evaluate("document.adoptedStyleSheets = []")
    assert page.evaluate(worn) != dressed  # the style sheet is the page's by now, and sent no more
    page.evaluate("atlasSent.clear()")
    with page.expect_response("**/maps/array/*") as asked:
        click_head(page, 4, 0)
    assert asked.value.status == 200
    wait_for_rest(page)
    expect_head(page, "L4H0")
    assert watch.errors == []


def test_what_is_pointed_at_in_one_figure_lights_in_the_others_and_no_server_hears_of_it(page, server):
    sent: list[object] = []

    def hear(frame: object) -> None:
        sent.append(frame)

    page.on("websocket", lambda connection: connection.on("framesent", hear))
    visit(page, server, layer="6", head="4")
    wait_for_heads(page)
    wait_for_rest(page)
    before = len(sent)
    picture, lines = page.locator(".head-map"), page.locator(".token-lines")
    box = picture.locator("canvas").bounding_box()
    plot = picture.evaluate("root => JSON.parse(root.dataset.geometry)")
    cell = plot["width"] / 8
    page.mouse.move(box["x"] + plot["x"] + 3.5 * cell, box["y"] + plot["y"] + 5.5 * cell)
    expect(page.locator(".token-strip .chip.lit .label")).to_have_text("·chased")
    expect(page.locator(".token-strip .chip.pointed .label")).to_have_text("·squirrel")
    expect(lines).to_have_attribute("data-active", "query 5")
    expect(lines.locator(".key.lit text").first).to_have_text("\u2068·chased\u2069")
    expect(page.locator(".head-grid")).to_have_attribute("data-lit", "[[0.625,0.375,0.125],null]")
    lines.locator(".row.query[data-row='6']").hover()
    expect(picture).to_have_attribute("data-lit", "6,")
    page.locator(".token-strip .chip").nth(2).hover()
    expect(picture).to_have_attribute("data-lit", ",2")
    expect(lines.locator(".key.lit")).to_have_attribute("data-row", "2")
    page.mouse.move(box["x"] + plot["x"] - 30, 5)
    expect(picture).to_have_attribute("data-lit", ",")
    expect(page.locator(".token-strip .lit, .token-lines .lit")).to_have_count(0)
    assert len(sent) == before
