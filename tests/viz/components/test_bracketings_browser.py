"""Linear attention's picture under keys, mouse and time, in a browser and without a server."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.viz.components import shim
from tests.viz.components.clock import hold, wait
from tests.viz.components.mounted import answer, facts
from tests.viz.components.test_bracketings import blocks_of, sums_of
from viz.components.bracketings.bracketings import SOURCE

pytestmark = pytest.mark.browser
WIDE = "section{max-width:1000px}"
LEAST = 50  # frames a second while a slider is dragged
# A slider moved with every frame: how many pictures a second.
DRAGGED = """(root, selector) => new Promise((resolve) => {
  const slider = root.querySelector(selector)
  const before = Number(root.dataset.painted)
  const start = performance.now()
  let value = Number(slider.min)
  const move = (now) => {
    if (now - start > 1500) return resolve((1000 * (Number(root.dataset.painted) - before)) / (now - start))
    value = value >= Number(slider.max) ? Number(slider.min) : value + 1
    slider.value = String(value)
    slider.dispatchEvent(new Event("input", { bubbles: true }))
    requestAnimationFrame(move)
  }
  requestAnimationFrame(move)
})"""


def told(page, name):
    wait(page, 400)
    return [value for _name, event, value in page.evaluate("window.calls") if event == name]


def test_a_token_more_is_read_and_both_orders_stay_the_same(mount):
    page = mount(SOURCE, sums_of(first=10), style=WIDE)
    assert float(facts(page)["off"]) < 1e-12
    expect(page.locator(".left .work")).to_contain_text("n² = 81 numbers")
    expect(page.locator(".right .work")).to_contain_text("d d_v = 30 numbers")
    before = page.locator(".orders .state canvas").evaluate("canvas => canvas.toDataURL()")
    page.locator(".scrub").fill("3")
    expect(page.locator(".bracketings")).to_have_attribute("data-at", "3")
    expect(page.locator(".place").first).to_contain_text("·t3")
    expect(page.locator(".place").first).to_contain_text("(13) is read")
    assert page.locator(".orders .state canvas").evaluate("canvas => canvas.toDataURL()") != before
    assert told(page, "read") == [3]


def test_another_size_of_blocks_is_another_picture_of_the_same_sum(mount):
    page = mount(SOURCE, blocks_of(), style=WIDE)
    pictures = set()
    for size in (1, 4, 9):
        page.locator(".size").fill(str(size))
        expect(page.locator(".bracketings")).to_have_attribute("data-block", str(size))
        assert float(facts(page)["off"]) < 1e-12
        pictures.add(page.locator(".blocks .map canvas").evaluate("canvas => canvas.toDataURL()"))
    assert len(pictures) == 3
    expect(page.locator(".key.inter")).to_contain_text("stand for 0 cells")
    assert told(page, "block") == [9]
    answer(page, blocks_of(block=9))
    assert facts(page)["block"] == "9"


def test_play_begins_anew_and_rests_at_the_end(mount):
    page = mount(SOURCE, blocks_of(), width=390, height=844, theme=shim.DARK)
    hold(page)
    page.get_by_role("button", name="play").click()
    assert facts(page)["at"] == "2"
    page.clock.run_for(2000)
    assert (facts(page)["at"], facts(page)["playing"]) == ("8", "false")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.long
@pytest.mark.parametrize("make, slider", [(sums_of, ".scrub"), (blocks_of, ".size"), (blocks_of, ".scrub")])
def test_a_slider_is_dragged_at_fifty_frames_a_second(mount, make, slider):
    """128 tokens of a head of 64 dimensions."""
    rows = np.random.default_rng(5).uniform(0.1, 2, (3, 128, 64))
    page = mount(SOURCE, make(128, **dict(zip("qkv", rows, strict=True))), style=WIDE)
    rate = page.locator(".bracketings").evaluate(DRAGGED, slider)
    assert rate >= LEAST, f"{rate:.0f} frames a second"


@pytest.mark.parametrize("make", [sums_of, blocks_of])
def test_what_a_mask_hides_is_the_hatched_paper_and_no_colour(mount, make):
    page = mount(SOURCE, make(), style=WIDE)
    canvas = page.locator(".matrix.map canvas").locator("visible=true").first
    hidden, seen = canvas.evaluate(
        "one => { const at = (x, y) => one.getContext('2d').getImageData(x, y, 1, 1).data[3];"
        " return [at(one.width - 1, 0), at(0, 0)] }"
    )
    assert (hidden, seen) == (0, 255)
    assert "repeating-linear-gradient" in canvas.evaluate("one => getComputedStyle(one).backgroundImage")
