"""What a view opens with, in a browser: a marked word's tint, pictures with all the room, what stands first."""

from __future__ import annotations

import pytest
from playwright.sync_api import FloatRect, Locator, ViewportSize, expect

from analysis.two_contexts import PAIRS
from tests.pages.visiting import PATIENCE, eventually, wait_for_rest

PHONE: ViewportSize = {"width": 390, "height": 844}
PIG = "The+pig+is+behind+the+dog.+It"
TINT = "rgba(226, 136, 20, 0.22)"  # of what differs in two texts, as everywhere
STREAMS = ".atlas-columns img:visible"


def box(found: Locator) -> FloatRect:
    """Where it stands."""
    place = found.bounding_box()
    assert place is not None
    return place


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_the_word_in_context_is_tinted_and_back_leads_to_the_pair_it_opened_on(new_page, server, language):
    page, pair = new_page(), PAIRS[language][0]
    page.goto(f"{server.url}/block?block.view=context&lang={language}")
    mark = page.locator(".atlas-ranks mark")
    expect(mark.first).to_be_visible(timeout=PATIENCE)
    wait_for_rest(page)
    expect(mark).to_have_count(2)
    expect(mark.first).to_have_css("background-color", TINT)
    expect(mark.first).to_have_css("color", mark.locator("..").first.evaluate("one => getComputedStyle(one).color"))
    before = page.url
    assert "block.second" not in before
    page.locator(".token-strip .chip").last.click()
    expect(page.locator(".atlas-ranks")).not_to_contain_text(pair.first.split()[-1], timeout=PATIENCE)
    wait_for_rest(page)
    page.go_back()
    expect(page.locator(".atlas-ranks")).to_contain_text(pair.first.split()[-1][-2:], timeout=PATIENCE)
    wait_for_rest(page)
    assert page.url == before


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_all_streams_are_seen_on_a_phone_and_have_the_room_of_a_desk(new_page, server, language):
    page = new_page(viewport=PHONE)
    address = f"{server.url}/block?block.view=streams&lang={language}&text=The+dog+chased+the+squirrel+because+it"
    page.goto(address)
    expect(page.locator(STREAMS)).to_have_count(1, timeout=PATIENCE)
    wait_for_rest(page)
    beyond = "one => one.scrollWidth - one.clientWidth"
    eventually(page, lambda: page.locator(".atlas-columns .atlas-wide").evaluate(beyond), lambda more: more <= 0)
    narrow = box(page.locator(STREAMS))
    assert 280 < narrow["width"] <= PHONE["width"] - narrow["x"]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(address)
    expect(page.locator(STREAMS)).to_have_count(1, timeout=PATIENCE)
    wait_for_rest(page)
    eventually(page, lambda: box(page.locator(STREAMS))["width"], lambda width: width > 700)


@pytest.mark.parametrize("size", [{"width": 1440, "height": 900}, PHONE], ids=["desk", "phone"])
def test_where_no_weight_moves_the_next_token_stands_above_the_maps(new_page, server, size):
    page = new_page(viewport=size)
    page.goto(f"{server.url}/edit_heads?text={PIG}")
    change, first = page.locator(".atlas-changes"), page.locator(".head-map").first
    expect(change).to_have_count(1, timeout=PATIENCE)
    first.wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    eventually(page, lambda: box(first)["y"] - box(change)["y"] - box(change)["height"], lambda below: below > 0)
    if size["width"] > 1000:
        assert box(change)["width"] > 700
        assert box(change)["y"] < 400
    page.goto(f"{server.url}/edit_heads?text={PIG}&layer=6&head=2")  # which looks elsewhere: its maps stand first
    expect(change).to_have_count(1, timeout=PATIENCE)
    first.wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    eventually(page, lambda: box(change)["y"] - box(first)["y"], lambda below: below > 0 or size["width"] > 1000)
    if size["width"] > 1000:
        assert box(change)["x"] > box(first)["x"] + box(first)["width"]
