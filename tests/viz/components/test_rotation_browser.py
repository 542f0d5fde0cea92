"""The dials under a slider, in a browser: vectors stand where position × θ puts them, and nothing is sent meanwhile."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.viz.components import made_positions as made
from tests.viz.components import shim
from tests.viz.components.clock import wait
from tests.viz.components.mounted import answer, facts
from viz.color import palette
from viz.components.rotation.rotation import SOURCE
from viz.export import standalone_html

pytestmark = pytest.mark.browser

WIDE = "section{max-width:1100px}"
ROOT = ".querySelector('.rotation')"


@pytest.fixture
def show(mount):
    def show_dials(width=1200, theme=shim.LIGHT, **changes):
        style = "body{margin:0}" if width < 600 else WIDE
        return mount(SOURCE, made.turning(**changes), width=width, theme=theme, style=style)

    return show_dials


def rim(page, pair, angle):
    """The point of the window on the rim of a pair's dial, in this direction."""
    grid = json.loads(page.locator(".dials").get_attribute("data-geometry"))
    box = page.locator(".dials").bounding_box()
    row, column = divmod(pair, grid["columns"])
    x = box["x"] + column * grid["pitch"] + grid["side"] / 2
    y = box["y"] + row * (grid["side"] + grid["label"] + 6) + grid["side"] / 2
    radius = grid["side"] / 2 - 3
    return x + radius * math.cos(angle), y - radius * math.sin(angle)


def turn_to(page, position):
    """Drag the slider to a position, as its input event says it, with the mouse still down."""
    page.locator(".slider").evaluate(
        """(slider, position) => {
            slider.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }))
            slider.value = position
            slider.dispatchEvent(new Event("input", { bubbles: true }))
        }""",
        position,
    )
    page.wait_for_function(f"document.querySelector('section').shadowRoot{ROOT}.dataset.position == '{position}'")


def release(page):
    page.locator(".slider").evaluate("slider => slider.dispatchEvent(new PointerEvent('pointerup', { bubbles: true }))")


@pytest.mark.parametrize("position", [0, 7, 33])
@pytest.mark.parametrize("theme, side", [(shim.LIGHT, "light"), (shim.DARK, "dark")])
def test_every_dot_stands_where_position_times_theta_puts_it(show, position, theme, side):
    page = show(theme=theme)
    turn_to(page, position)
    for name, values in (("query", made.vectors(0)), ("key", made.vectors(1))):
        for pair, (a, b) in enumerate(values):
            angle = math.atan2(b, a) + position * made.theta()[pair]
            color = shim.color_at(page, *rim(page, pair, angle))[:3]
            other = math.atan2(*made.vectors(0)[pair][::-1]) + position * made.theta()[pair]
            if name == "key" and math.cos(other - angle) > 0.99:
                continue  # the query's dot covers it
            assert np.abs(np.array(color) - palette()[name][side]).max() < 60, (name, pair, color)


def test_nothing_is_sent_while_the_slider_moves_and_the_place_once_it_rests(show):
    page = show()
    before = int(facts(page)["painted"])
    for position in range(8, 30):
        turn_to(page, position)
    wait(page, 500)
    assert page.evaluate("window.calls") == []
    assert int(facts(page)["painted"]) - before >= 22
    release(page)
    page.wait_for_function("window.calls.length > 0")
    wait(page, 400)
    assert page.evaluate("window.calls") == [["rotation", "position", 29]]


def test_a_rerun_of_an_older_place_does_not_turn_it_back(show):
    page = show()
    turn_to(page, 40)
    release(page)
    answer(page, made.turning(position=12))
    assert facts(page)["position"] == "40"


def test_a_place_beyond_the_context_is_said(show):
    page = show(position=3000)
    assert page.locator(".notes").inner_text().startswith("Position 3,000 lies beyond the 2,048 positions")
    page.locator(".own").click()
    page.wait_for_function("window.calls.length > 0")
    assert page.locator(".notes").inner_text().startswith("Turned to their own position 7")
    assert page.evaluate("window.calls") == [["rotation", "position", 7]]


def test_a_number_beyond_the_slider_stops_at_its_end(show):
    page = show()
    page.locator(".number").fill("99999")
    page.locator(".number").press("Enter")
    page.wait_for_function("window.calls.length > 1")
    assert page.evaluate("window.calls")[-1] == ["rotation", "position", 4 * 2048 - 1]
    assert page.locator(".number").input_value() == str(4 * 2048 - 1)


def test_a_range_button_brings_the_place_inside_it(show):
    page = show(position=1500)
    page.locator(".spans button").first.click()
    page.wait_for_function("window.calls.length > 1")
    assert page.evaluate("window.calls") == [["rotation", "span", "near"], ["rotation", "position", 63]]
    assert facts(page)["position"] == "63"


@pytest.mark.parametrize("span, position, end", [("near", 7, "63"), ("far", 7, "8191"), ("near", 1500, "2047")])
def test_the_slider_reaches_as_far_as_was_asked_for_or_as_its_place_needs(show, span, position, end):
    page = show(span=span, position=position)
    assert page.locator(".slider").get_attribute("max") == end
    page.locator(".number").fill("3000")
    page.wait_for_function("window.calls.some(call => call[1] === 'position')")
    widened = [["rotation", "span", "far"]] if span == "near" else []
    assert page.evaluate("window.calls") == [*widened, ["rotation", "position", 3000]]


def test_the_dials_say_whose_they_are(show):
    words = show(token="·dog").locator(".readout").inner_text()
    assert "·dog" in words
    assert "query q blue, key k red" in words


def test_a_pair_says_its_angle_its_turns_and_its_wavelength(show):
    page = show()
    page.locator(".dials").focus()
    for key in ("Home", "ArrowRight"):
        page.keyboard.press(key)
    page.wait_for_function(
        "document.querySelector('section').shadowRoot.querySelector('.rotation').dataset.pair == '1'"
    )
    words = page.locator(".readout").inner_text()
    theta = made.theta()[1]
    assert f"7 × {theta:.3g} = {7 * theta:.3g} rad" in words
    assert f"takes {2 * math.pi / theta:.3g} tokens" in words
    assert "dimensions 1 and 9" in words
    page.keyboard.press("Escape")
    page.wait_for_function("document.querySelector('section').shadowRoot.querySelector('.rotation').dataset.pair == ''")


def test_pointing_at_a_dial_looks_into_its_pair(show):
    page = show()
    page.mouse.move(*rim(page, 5, 0.4))
    page.wait_for_function(
        "document.querySelector('section').shadowRoot.querySelector('.rotation').dataset.pair == '5'"
    )


def test_it_turns_by_itself_until_it_is_stopped(show):
    page = show()
    page.locator(".play").click()
    page.wait_for_function(
        "Number(document.querySelector('section').shadowRoot.querySelector('.rotation').dataset.position) > 9"
    )
    assert page.evaluate("window.calls") == []
    page.locator(".play").click()
    page.wait_for_function("window.calls.length > 0")
    assert page.evaluate("window.calls")[0][2] == int(facts(page)["position"])


def test_pairs_that_do_not_complete_a_turn_are_counted(show):
    page = show()
    slow = int((2 * math.pi / made.theta() > 2048).sum())
    assert f"{slow} of {made.PAIRS} pairs do not complete one turn" in page.locator(".notes").inner_text()


@pytest.mark.parametrize("n_pairs", [1, 8, 64, 128])
@pytest.mark.parametrize("width", [390, 1200])
def test_any_number_of_pairs_fits_the_width(show, width, n_pairs):
    page = show(width=width, n_pairs=n_pairs)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    grid = json.loads(page.locator(".dials").get_attribute("data-geometry"))
    assert grid["columns"] * grid["rows"] >= n_pairs


def test_the_token_is_text(show):
    page = show()
    assert page.locator("img").count() == 0
    assert made.MARKUP in page.locator(".dials").get_attribute("aria-label")


def test_the_standalone_page_turns_offline(static_page):
    page = static_page(standalone_html(SOURCE, made.turning(), title="L3H2", caption="c", lang="en").decode())
    page.wait_for_selector("[data-painted]")
    page.locator(".slider").fill("20")
    expect(page.locator(".rotation")).to_have_attribute("data-position", "20")
