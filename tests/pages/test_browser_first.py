"""Parts of pages that answer first, in a browser: what they wait for and what they have to say while they run alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.pages.visiting import address, click_strip, eventually, visit, wait_for_rest

pytestmark = pytest.mark.browser


def sound(page) -> None:
    wait_for_rest(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_text("error")).to_have_count(0)


@pytest.mark.long
def test_step_by_step_computes_another_layer(page, server):
    for _again in range(2):  # the second time nothing of it is waited for with the page
        visit(page, server, "steps", layer="3", head="1", **{"steps.source": "model"})
        page.locator(".step-by-step[data-painted]").wait_for()
        wait_for_rest(page)
    before = page.locator(".step-by-step").inner_text()
    click_strip(page, 6, 1)
    eventually(page, lambda: address(page.url).get("layer"), lambda held: held == "6")
    sound(page)
    expect(page.locator(".step-by-step")).to_have_count(1)
    assert page.locator(".step-by-step").inner_text() != before


@pytest.mark.long
def test_the_block_shows_the_norms_of_another_layer(page, server):
    strips = page.locator(".model-stages[data-painted]")
    for _again in range(2):
        visit(page, server, "block", layer="3", **{"block.view": "norms"})
        strips.wait_for()
        wait_for_rest(page)
    before = strips.inner_text()
    click_strip(page, 6, 0)
    eventually(page, lambda: address(page.url).get("layer"), lambda held: held == "6")
    sound(page)
    expect(strips).to_have_count(1)
    assert strips.inner_text() != before
    page.go_back()
    eventually(page, strips.inner_text, lambda held: held == before)
    sound(page)


def test_the_zoo_changes_the_model_and_says_what_it_cannot_change(page, server):
    place = {"model": "encoder", "layer": "1", "head": "1"}  # which looks both ways, as DeltaNet cannot
    visit(page, server, "zoo", **place, **{"zoo.view": "model", "zoo.variant": "performer"})
    maps = page.locator(".head-map[data-painted]")
    expect(maps).to_have_count(3)
    wait_for_rest(page)
    page.locator("[class*='st-key-zoo-values-performer-features'] input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    eventually(page, lambda: address(page.url).get("zoo.values.performer.features"), lambda held: held == "65")
    sound(page)
    for label, name in (("DeltaNet", "delta"), ("softmax with a sink", "off_by_one")):
        page.locator(".st-key-zoo-variant input").click()
        page.keyboard.type(label)  # the list draws a few of its rows alone
        page.get_by_role("option", name=label).click()
        eventually(page, lambda: address(page.url).get("zoo.variant"), lambda held, name=name: held == name)
        sound(page)
        expect(page.get_by_test_id("stAlert")).to_have_count(1 if name == "delta" else 0)
    page.locator(".st-key-everywhere label").click()
    eventually(page, lambda: address(page.url).get("everywhere"), lambda held: held == "1")
    expect(page.locator(".st-key-beside_model")).to_contain_text("changed by 1 edit")
    sound(page)
