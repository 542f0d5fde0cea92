"""The cutoff of an adaptive softmax in a real browser: what is said and drawn at each, in an address and on phones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import PATIENCE, Server
from tests.pages.test_browser_class import FOLLOWED_IN, PHONE
from tests.pages.test_browser_class_sliders import held, open_room
from tests.pages.visiting import end_room, wait_for_rest

pytestmark = pytest.mark.browser
ADDRESS = "/steps?steps.view=softmax&steps.softmax=vocabulary"
VOCABULARY, D = 8192, 256  # of the embedded model
WHERE = """(chart) => {
  const box = (one) => {
    const { top, bottom } = one.getBoundingClientRect()
    return { top, bottom }
  }
  return { words: box(chart.querySelector(".at-marker")), lines: [...chart.querySelectorAll("path.line")].map(box) }
}"""


def mean_cost(cutoff: int) -> float:
    """Token by token: the head for each, and its cluster, whose vectors are a quarter as long, for the rare ones."""
    total, weights = 0.0, 0.0
    for rank in range(1, VOCABULARY + 1):
        cost = (cutoff + 1) * D
        if rank > cutoff:
            cost += D * (D // 4) + (D // 4) * (VOCABULARY - cutoff)
        total, weights = total + cost / rank, weights + 1 / rank
    return total / weights


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_cutoff_says_and_marks_its_own_cost_and_back_returns_to_the_one_before(
    page: Page, server: Server, language: str
):
    page.goto(f"{server.url}{ADDRESS}&lang={language}")
    chart = page.locator(".chart[data-painted]")
    slider = chart.locator(".knob input")
    expect(slider).to_be_visible(timeout=PATIENCE)
    wait_for_rest(page)
    expect(slider).to_have_attribute("aria-valuetext", "2,048")
    for power in (11, 12, 2, 7):
        slider.fill(str(power - 2))
        cutoff = 2**power
        expect(chart.locator(".knob output")).to_have_text(f"{cutoff:,}")
        numbers = re.findall(r"[\d,]*\d", chart.locator(".said").inner_text())
        assert f"{mean_cost(cutoff):,.0f}" == numbers[0]
        assert numbers[0] == numbers[-1]  # counted in torch's own layer
        assert f"{VOCABULARY * D:,}" in numbers
        across = float((chart.locator("line[stroke-dasharray]").get_attribute("x1") or "").rstrip("%"))
        assert across == pytest.approx(10 * (power - 2), abs=0.1)
        expect(chart.locator(".picture")).to_contain_text(f"{VOCABULARY - cutoff:,}")
        at = chart.evaluate(WHERE)
        flat = at["lines"][1]  # all tokens at once, the dashed one
        assert flat["bottom"] < at["words"]["top"] + 2 or flat["top"] > at["words"]["bottom"] - 2
    page.wait_for_url("**steps.cutoff=128**")
    wait_for_rest(page)
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**steps.cutoff=256**")
    wait_for_rest(page)
    page.go_back()
    expect(chart.locator(".knob output")).to_have_text("128")
    expect(chart.locator(".said")).to_contain_text(f"{mean_cost(128):,.0f}")
    page.go_forward()
    expect(chart.locator(".knob output")).to_have_text("256")
    assert math.isclose(float(slider.input_value()), 6)


@pytest.mark.long
def test_a_class_sees_the_cutoff_while_it_is_dragged(server: Server, new_page: Callable[..., Page]):
    teacher, phone = new_page(), new_page(**PHONE)
    teacher.goto(f"{server.url}{ADDRESS}")
    mine = teacher.locator(".chart[data-painted]")
    expect(mine.locator(".knob input")).to_be_visible(timeout=PATIENCE)
    code = open_room(teacher)
    phone.goto(f"{server.url}/join/{code}")
    its = phone.locator(".chart[data-painted]")
    expect(its).to_be_visible(timeout=PATIENCE)
    slider = mine.locator(".knob input")
    slider.scroll_into_view_if_needed()
    draw = held(teacher, slider)
    for share in (0.5, 0.95, 0.7):
        cutoff = 2 ** (2 + int(draw(share)))
        expect(its.locator(".knob output")).to_have_text(f"{cutoff:,}", timeout=FOLLOWED_IN)
        expect(its.locator(".said")).to_contain_text(f"{mean_cost(cutoff):,.0f}")
        expect(its.locator(".picture")).to_contain_text(f"{VOCABULARY - cutoff:,}")
        assert "cutoff" not in teacher.url
    teacher.mouse.up()
    teacher.wait_for_url(f"**cutoff={cutoff}**", timeout=PATIENCE)
    expect(its.locator(".knob output")).to_have_text(f"{cutoff:,}")
    end_room(teacher)
