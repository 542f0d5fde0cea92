"""Sliders of Positions and of Step by step in a class: the phone is where the teacher's hand is, while it is held."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import PATIENCE, Server
from tests.pages.test_browser_class import FOLLOWED_IN, PHONE, click
from tests.pages.visiting import end_room

pytestmark = pytest.mark.browser


def held(teacher: Page, slider: Locator) -> Callable[[float], str]:
    """Press a slider; what is returned draws it to a share of its width and says where it is then."""
    box = slider.bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    teacher.mouse.move(box["x"] + 0.3 * box["width"], y)
    teacher.mouse.down()

    def draw(share: float) -> str:
        teacher.mouse.move(box["x"] + share * box["width"], y)
        return slider.input_value()

    return draw


def open_room(teacher: Page) -> str:
    click(teacher, "open_room")
    code = teacher.locator(".atlas-huge").inner_text()
    click(teacher, "hide_code")
    return code


def test_dials_turn_on_the_phone_while_the_slider_is_held_and_who_comes_late_sees_the_pinned_pair(
    server: Server, new_page: Callable[..., Page]
):
    teacher, phone, late = new_page(), new_page(**PHONE), new_page(**PHONE)
    teacher.goto(f"{server.url}/positions?layer=3&head=2")
    mine = teacher.locator(".rotation[data-painted]")
    expect(mine).to_be_visible(timeout=PATIENCE)
    code = open_room(teacher)
    phone.goto(f"{server.url}/join/{code}")
    its = phone.locator(".rotation[data-painted]")
    expect(its).to_be_visible(timeout=PATIENCE)
    mine.locator(".dials").click(position={"x": 40, "y": 40})
    expect(mine).to_have_attribute("data-pair", re.compile(r"\d"))
    pair = mine.get_attribute("data-pair") or ""
    expect(its).to_have_attribute("data-pair", pair, timeout=FOLLOWED_IN)
    draw = held(teacher, mine.locator(".slider"))
    for share in (0.4, 0.6, 0.8):
        position = draw(share)
        expect(its).to_have_attribute("data-position", position, timeout=FOLLOWED_IN)
        assert "at=" not in teacher.url
    expect(its.locator(".readout")).to_have_text(mine.locator(".readout").inner_text())
    teacher.mouse.up()
    teacher.wait_for_url(f"**at={position}**", timeout=PATIENCE)
    late.goto(f"{server.url}/join/{code}")
    there = late.locator(".rotation[data-painted]")
    expect(there).to_have_attribute("data-position", position, timeout=PATIENCE)
    expect(there).to_have_attribute("data-pair", pair)
    end_room(teacher)
    expect(phone.locator("form")).to_be_visible()


@pytest.mark.long
def test_a_knob_of_step_by_step_is_on_the_phone_while_it_is_held(server: Server, new_page: Callable[..., Page]):
    teacher, phone = new_page(), new_page(**PHONE)
    teacher.goto(f"{server.url}/steps?steps.view=scale&steps.step=scale")
    mine = teacher.locator(".step-by-step[data-painted]")
    knob = mine.locator("[data-knob=temperature]")
    expect(knob).to_be_visible(timeout=PATIENCE)
    code = open_room(teacher)
    phone.goto(f"{server.url}/join/{code}")
    its = phone.locator(".step-by-step[data-painted]")
    expect(its).to_be_visible(timeout=PATIENCE)
    draw = held(teacher, knob)
    numbers = [one.locator(".result td[data-row]") for one in (mine, its)]
    for share in (0.5, 0.7, 0.9):
        value = draw(share)
        expect(its.locator("[data-knob=temperature]")).to_have_value(value, timeout=FOLLOWED_IN)
        assert numbers[0].all_text_contents() == numbers[1].all_text_contents()
        assert "temperature" not in teacher.url
    teacher.mouse.up()
    teacher.wait_for_url(f"**temperature={float(value):g}**", timeout=PATIENCE)
    expect(its.locator("[data-knob=temperature]")).to_have_value(value)
    end_room(teacher)
    expect(phone.locator("form")).to_be_visible()
