"""The page Next token in a browser: dragging costs the server nothing, and the address follows once it is released."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from model_runner.sampling import stages
from model_runner.transforms import Sampling
from tests.pages.expected import capture
from tests.pages.visiting import PATIENCE, address, eventually, expect_address, visit, wait_for_rest

pytestmark = pytest.mark.browser

ROOT = ".sampling-bench"


def open_bench(page, server, **parts: str):
    visit(page, server, "next_token", **parts)
    return wait_for_bench(page)


def wait_for_bench(page):
    page.locator(f"{ROOT}[data-painted]").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    return page


def final(page, bench: str = "a") -> np.ndarray:
    return np.array(page.locator(ROOT).evaluate(f"root => Array.from(root.atlas.results.{bench}.final)"))


def test_the_page_is_seen_whole_and_nothing_leaves_the_machine(page, server, watch, requests_outside):
    open_bench(page, server)
    for part in (".bar-list", ".controls", ".curve canvas"):
        box = page.locator(f"{ROOT} {part}").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 900, part
    want = stages(capture().logits(-1), Sampling(), ())[0].probabilities.numpy()
    np.testing.assert_allclose(final(page), want, atol=1e-9)
    assert requests_outside == []
    assert watch.errors == []


def test_dragging_redraws_and_sends_nothing_until_it_is_released(page, server, frames):
    open_bench(page, server, query="2")
    box = page.locator("[data-transform=temperature] input[type=range]").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.5 * box["width"], y)
    page.wait_for_timeout(300)
    page.mouse.down()
    frames.clear()
    painted = int(page.locator(ROOT).get_attribute("data-painted") or 0)
    for step in range(50, 90, 2):
        page.mouse.move(box["x"] + step / 100 * box["width"], y)
        page.wait_for_timeout(20)
    eventually(
        page, lambda: int(page.locator(ROOT).get_attribute("data-painted") or 0), lambda now: now - painted >= 10
    )
    page.wait_for_timeout(600)
    assert frames == []
    value = page.locator(ROOT).evaluate("root => root.atlas.settings.a.temperature")
    previous = [token.id for token in capture().tokens[:3]]
    want = stages(capture().logits(2), Sampling(temperature=value), previous)[-1].probabilities.numpy()
    np.testing.assert_allclose(final(page), want, atol=1e-9)
    page.mouse.up()
    expect_address(page, query="2", **{"sampling.temperature": f"{value:g}"})
    assert frames


def test_back_undoes_what_was_set(page, server):
    open_bench(page, server)
    field = page.locator("[data-transform=temperature] .value")
    for value in ("1.5", "0.5"):
        field.fill(value)
        field.press("Enter")
        expect_address(page, **{"sampling.temperature": value})
        wait_for_rest(page)
    page.go_back()
    expect(field).to_have_value("1.5")
    page.go_back()
    expect(field).to_have_value("off")
    page.go_forward()
    expect(field).to_have_value("1.5")
    field.fill("0.7")
    field.press("Enter")
    expect_address(page, **{"sampling.temperature": "0.7"})
    expect(field).to_have_value("0.7")


@pytest.mark.long
def test_another_browser_at_the_same_address_shows_the_same_bench(page, server, new_page):
    open_bench(page, server, query="2")
    page.locator("input.compare").check()
    field = page.locator("[data-transform=top_k] .value")
    field.fill("6")
    field.press("Enter")
    page.locator(".draw").nth(1).click()
    page.locator("#bench-find").fill(" was")
    page.locator("#bench-find").press("Enter")
    find = page.locator(ROOT).get_attribute("data-find") or ""
    expect(page.locator(ROOT)).to_have_attribute("data-draws", "10")
    expect_address(
        page,
        query="2",
        **{
            "next_token.compare": "1",
            "sampling_b.top_k": "6",
            "next_token.draws": "10",
            "next_token.find": page.locator(ROOT).get_attribute("data-find") or find,
        },
    )
    other = new_page()
    other.goto(page.url)
    wait_for_bench(other)
    for name in ("a", "b"):
        np.testing.assert_array_equal(final(other, name), final(page, name))
    for fact in ("summary", "kept", "draws", "find"):
        expect(other.locator(ROOT)).to_have_attribute(
            f"data-{fact}", page.locator(ROOT).get_attribute(f"data-{fact}") or ""
        )
    assert address(other.url) == address(page.url)


@pytest.mark.long
def test_the_picture_is_not_sent_again_for_its_own_settings(page, server):
    open_bench(page, server)
    page.locator(ROOT).evaluate("root => { root.atlas.meta.mine = true }")
    page.locator("[data-transform=top_p] .value").fill("0.5")
    page.locator("[data-transform=top_p] .value").press("Enter")
    expect_address(page, **{"sampling.top_p": "0.5"})
    wait_for_bench(page)
    assert page.locator(ROOT).evaluate("root => root.atlas.meta.mine") is True


@pytest.mark.long
def test_settings_survive_a_click_on_another_token(page, server):
    open_bench(page, server)
    page.locator("[data-transform=top_k] .value").fill("3")
    page.locator("[data-transform=top_k] .value").press("Enter")
    expect_address(page, **{"sampling.top_k": "3"})
    page.locator(".token-strip .chip").nth(2).click()
    expect(page.locator(".went-on")).to_be_visible()
    expect(page.locator(ROOT)).to_have_attribute("data-kept", "3")
    expect_address(page, query="2", **{"sampling.top_k": "3"})


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_a_phone_shows_everything_in_its_width(new_page, server, language):
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    open_bench(page, server, lang=language, compare="1", draws="100")
    assert page.locator(ROOT).evaluate("root => root.scrollWidth <= root.clientWidth")
    slider = page.locator("[data-transform=typical_p] input[type=range]")
    slider.scroll_into_view_if_needed()
    assert page.locator(f"{ROOT} .bar-list").is_visible()
    bars, control = page.locator(f"{ROOT} .bars").bounding_box(), slider.bounding_box()
    assert bars is not None
    assert control is not None
    assert bars["y"] > -10, "the bars stay in sight while the lowest slider is moved"
    assert control["y"] >= bars["y"] + bars["height"] - 30
