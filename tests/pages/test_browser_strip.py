"""The strip of the model under every title: a head picked by mouse, keyboard and finger, and the way back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.model_runner.folders import save
from tests.model_runner.tiny import tiny
from tests.pages.visiting import address, click_strip, eventually, expect_head, visit, wait_for_heads, wait_for_rest

pytestmark = pytest.mark.browser


def place(page):
    return tuple(address(page.url).get(name) for name in ("layer", "head"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_head_is_picked_by_mouse_and_by_keyboard_and_back_shows_the_one_before(page, server, lang):
    wait_for_heads(visit(page, server, lang=lang, layer="3", head="1"))
    strip = page.locator(".model-strip")
    expect(strip).to_have_attribute("data-place", "3,1")
    wait_for_rest(page)
    click_strip(page, 5, 6)
    expect(page.locator(".head-grid")).to_have_attribute("data-selected", "5,6")
    expect_head(page, "L5H6")
    wait_for_rest(page)
    page.go_back()
    expect_head(page, "L3H1")
    expect(strip).to_have_attribute("data-place", "3,1")
    wait_for_rest(page)
    strip.locator("svg[tabindex]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    eventually(page, lambda: place(page), lambda held: held == ("4", "2"))
    expect_head(page, "L4H2")
    page.go_back()
    expect_head(page, "L3H1")


def test_a_page_without_heads_opens_the_picked_one_in_heads_and_parts_open_their_page(page, server):
    visit(page, server, "next_token", layer="3", head="1", text="The dog chased the squirrel because it")
    page.locator(".model-strip[data-picks=heads]").wait_for()
    assert page.locator(".model-strip .part.lit").evaluate_all("all => all.map((one) => one.dataset.part)") == [
        "logits", "next",
    ]  # fmt: skip
    wait_for_rest(page)
    click_strip(page, 2, 5)
    wait_for_heads(page)
    expect_head(page, "L2H5")
    wait_for_rest(page)
    page.get_by_role("button", name="logits: open its page").click()
    eventually(page, lambda: address(page.url).get("block.view"), lambda held: held == "lens")
    page.locator(".layer-head-map[data-painted]").first.wait_for()
    page.go_back()
    expect_head(page, "L2H5")


@pytest.fixture(scope="session")
def eighty(tmp_path_factory):
    """The folder of a tiny model of eighty layers."""
    folder = tmp_path_factory.mktemp("eighty")
    made = tiny("llama", num_hidden_layers=80, num_attention_heads=4, num_key_value_heads=2, hidden_size=16)
    return str(save(folder, made()))


def test_on_a_phone_a_head_of_eighty_layers_is_picked_by_finger(new_page, server, eighty):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, server, "cell", model=eighty, layer="40", head="3", text="one two")
    page.locator(".cell-steps[data-painted]").wait_for()
    wait_for_rest(page)
    strip = page.locator(".model-strip")
    assert strip.bounding_box()["height"] < 34
    strip.get_by_role("button", name="L40H3").tap()
    strip.get_by_role("radio", name="L71", exact=True).tap()
    eventually(page, lambda: place(page), lambda held: held == ("71", "3"))
    strip.get_by_role("radio", name="H0 · kv 0", exact=True).tap()
    eventually(page, lambda: place(page), lambda held: held == ("71", "0"))
    expect(page.locator(".cell-steps")).to_contain_text("L71H0")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
