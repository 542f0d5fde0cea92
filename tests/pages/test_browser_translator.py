"""The embedded translator in a browser: chosen, its attentions, a translation that is typed, Back, a copied address."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from analysis.examples import OF_MODEL, examples_of
from tests.pages.visiting import (
    PATIENCE,
    address,
    eventually,
    text_box,
    type_text,
    visit,
    wait_for_heads,
    wait_for_rest,
)

pytestmark = pytest.mark.browser

ENGLISH = OF_MODEL["translator"][0].text
NAMES = {"en": "Embedded translator", "zh": "内置翻译模型"}
WRITTEN = "那只狗昨天在花园里追了那只猫。"


def radio(page, number: int):
    """The encoder's, the decoder's, and the attention across."""
    return page.locator(".st-key-attention [role=radio]").nth(number)


def shape(page) -> str | None:
    """How many rows and columns the open head's map has."""
    return page.locator(".head-map").get_attribute("data-window")


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_it_is_chosen_and_every_control_of_it_is_in_the_address_and_undone_by_back(page, server, language, watch):
    wait_for_heads(visit(page, server, lang=language))
    page.locator(".st-key-model_box input").click()
    page.get_by_role("option", name=NAMES[language]).click()
    expect(text_box(page)).to_have_value(examples_of("translator", language)[0].text, timeout=PATIENCE)
    wait_for_heads(page)
    type_text(page, ENGLISH)
    expect(page.locator(".st-key-target input")).to_have_attribute(
        "placeholder", f"{'it writes: ' if language == 'en' else '它写的是：'}{WRITTEN}", timeout=PATIENCE
    )
    expect(radio(page, 2)).to_have_attribute("aria-checked", "true")
    wait_for_rest(page)
    chips = page.locator(".token-strip .chip")
    n_all = chips.count()
    across = shape(page)

    radio(page, 0).click()
    eventually(page, lambda: address(page.url).get("attention"), lambda held: held == "encoder")
    eventually(page, chips.count, lambda count: count < n_all)
    page.locator(".st-key-target input").fill("那只猫")
    page.locator(".st-key-target input").press("Enter")
    eventually(page, lambda: address(page.url).get("target"), lambda held: held == "那只猫")
    radio(page, 2).click()
    eventually(page, lambda: "attention" in address(page.url), lambda held: not held)
    eventually(page, lambda: chips.all_inner_texts()[-1], lambda label: "猫" in label)
    wait_for_rest(page)

    page.go_back()
    eventually(page, lambda: address(page.url).get("attention"), lambda held: held == "encoder")
    expect(radio(page, 0)).to_have_attribute("aria-checked", "true", timeout=PATIENCE)
    page.go_back()
    eventually(page, lambda: "target" in address(page.url), lambda held: not held)
    expect(page.locator(".st-key-target input")).to_have_value("", timeout=PATIENCE)
    page.go_back()
    expect(radio(page, 2)).to_have_attribute("aria-checked", "true", timeout=PATIENCE)
    eventually(page, chips.count, lambda count: count == n_all)
    eventually(page, lambda: shape(page), lambda found: found == across)
    assert watch.errors == []


@pytest.mark.long
def test_a_copied_address_shows_the_same_map_and_the_film_goes_on_from_what_was_typed(page, server, new_page):
    place = {"model": "translator", "text": ENGLISH, "target": "那只猫", "layer": "2", "head": "1"}
    wait_for_heads(visit(page, server, **place))
    labels = page.locator(".token-strip .chip").all_inner_texts()
    other = new_page()
    other.goto(page.url)
    wait_for_heads(other)
    assert other.locator(".token-strip .chip").all_inner_texts() == labels
    assert shape(other) == shape(page)
    visit(other, server, "film", **place, **{"film.temperature": "0"})
    other.locator(".film[data-painted]").wait_for(timeout=PATIENCE)
    other.locator(".film .speed").select_option("30")
    other.locator(".film .play").click()
    other.wait_for_url(lambda url: "film.steps" in address(url), timeout=PATIENCE)
    expect(other.locator(".film .chip.drawn").first).to_have_text("昨天")
