"""The views of a page stand in one place, and look alike on every page: what is below them comes and goes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page

from tests.browser import Server
from tests.pages.visiting import eventually, visit, wait_for_rest
from tests.viz.test_contrast import contrast

PAGES = (
    "positions", "compare", "long_texts", "kv_cache", "masks", "sharing", "edit_heads", "steps", "block", "families",
    "zoo",
)  # fmt: skip  # in two lines
# of the row of views: its top, and the heights of its segments
ROW = """() => {
  const buttons = [...document.querySelectorAll(".stMain [class*='-view'] [data-testid=stButtonGroup] button")]
  const boxes = buttons.map((button) => button.getBoundingClientRect())
  return { top: Math.min(...boxes.map((box) => box.top)), heights: [...new Set(boxes.map((box) => box.height))] }
}"""
HEIGHT = 30  # px


@pytest.mark.parametrize("lang", ["en", pytest.param("zh", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", PAGES)
def test_every_view_of_a_page_has_its_tabs_at_one_place(page: Page, server: Server, name: str, lang: str):
    visit(page, server, name, text="The cat sat on the mat.", lang=lang)
    tabs = page.locator(f".st-key-{name}-view, [class*='st-key-{name}-view']").first.get_by_role("radio")
    tabs.first.wait_for()
    wait_for_rest(page)
    seen = {}
    for words in tabs.all_inner_texts():
        tab = page.locator(f"[class*='st-key-{name}-view']").get_by_role("radio", name=words, exact=True)
        tab.click()
        eventually(page, lambda tab=tab: tab.get_attribute("aria-checked"), lambda checked: checked == "true")
        wait_for_rest(page)
        seen[words] = page.evaluate(ROW)
    assert len(seen) > 1
    first = next(iter(seen.values()))
    assert {words: row for words, row in seen.items() if abs(row["top"] - first["top"]) > 0.5} == {}, first
    assert {words: row for words, row in seen.items() if row["heights"] != pytest.approx([HEIGHT], abs=0.5)} == {}


def test_the_tabs_of_the_block_are_one_line_in_chinese(page: Page, server: Server):
    visit(page, server, "block", lang="zh")
    tabs = page.locator("[class*='st-key-block-view']").get_by_role("radio")
    tabs.first.wait_for()
    tops = tabs.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().top)")
    assert len(tops) == 11
    assert max(tops) - min(tops) < 1


def test_a_long_map_begins_high_and_its_legend_is_on_the_screen(page: Page, server: Server):
    visit(page, server, "long_texts")
    figure = page.locator(".long-map[data-painted] .figure")
    figure.wait_for()
    wait_for_rest(page)
    box = figure.bounding_box()
    assert box is not None
    assert box["y"] < 300
    assert box["y"] + box["height"] <= 900


@pytest.mark.parametrize("lang, menu, mean", [("en", "Display", "mean"), ("zh", "显示", "均值")])
def test_how_a_long_map_is_drawn_is_chosen_in_a_menu_and_taken_back_beside_it(
    page: Page, server: Server, lang: str, menu: str, mean: str
):
    visit(page, server, "long_texts", lang=lang)
    page.locator(".long-map[data-painted]").wait_for()
    page.locator(".st-key-long_display").get_by_role("button", name=menu).click()
    page.get_by_role("radio", name=mean, exact=True).click()
    page.wait_for_url("**long_texts.pooling=mean**")
    page.keyboard.press("Escape")
    page.get_by_role("button", name=f"{mean} ×", exact=True).click()
    page.wait_for_url(lambda url: "long_texts.pooling" not in url)
    page.go_back()
    page.get_by_role("button", name=f"{mean} ×", exact=True).wait_for()


def test_the_curves_of_a_scale_are_wider_than_its_numbers_and_left_of_them(page: Page, server: Server):
    visit(page, server, "steps", **{"steps.view": "scale"})
    chart, numbers = page.locator(".st-key-steps_scale_0"), page.locator(".step-by-step[data-painted]")
    numbers.wait_for()
    left, right = chart.bounding_box(), numbers.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]
    assert left["width"] > right["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_words_of_a_button_that_cannot_be_used_are_read(new_page, server: Server, scheme: str):
    page = new_page(color_scheme=scheme)
    visit(page, server, "cell")
    words = page.locator(".st-key-cell_strongest button")
    words.wait_for()
    wait_for_rest(page)
    assert words.is_disabled()
    ink_of = "(node) => getComputedStyle(node.querySelector('p')).color"
    colors = words.evaluate(ink_of), page.locator(".stApp").evaluate("(node) => getComputedStyle(node).backgroundColor")
    ink, ground = (tuple(map(float, re.findall(r"[\d.]+", color)[:3])) for color in colors)
    assert contrast(ink, ground) >= 4.5
