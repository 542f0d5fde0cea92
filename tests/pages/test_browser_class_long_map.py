"""The map of Long texts in a class: a phone asks for its tiles by itself and looks where the teacher looks."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser import PATIENCE, Server
from tests.pages.test_browser_class import FOLLOWED_IN, PHONE, click
from tests.pages.visiting import end_room, eventually

pytestmark = pytest.mark.browser


def test_a_phone_asks_for_the_tiles_of_the_teachers_map_and_follows_the_view(
    server: Server, new_page: Callable[..., Page]
):
    teacher, phone = new_page(), new_page(**PHONE)
    answered: list[tuple[str, int]] = []

    def note(request: Request) -> None:
        response = request.response()
        if "/maps/" in request.url and response:
            answered.append((request.url.split("/maps/")[1], response.status))

    phone.on("requestfinished", note)
    teacher.goto(f"{server.url}/long_texts?layer=6&head=5&text={'the%20cat%20sat%20' * 20}")
    mine = teacher.locator(".long-map[data-waiting='false']")
    expect(mine).to_be_visible(timeout=PATIENCE)
    click(teacher, "open_room")
    code = teacher.locator(".atlas-huge").inner_text()
    click(teacher, "hide_code")
    phone.goto(f"{server.url}/join/{code}")
    its = phone.locator(".long-map[data-waiting='false']")
    expect(its).to_be_visible(timeout=PATIENCE)
    eventually(phone, lambda: answered, lambda found: ("tile/6/5/0/0/0", 200) in found)
    assert {status for _, status in answered} == {200}
    expect(its).to_have_attribute("data-view", mine.get_attribute("data-view") or "")

    plot = json.loads(mine.get_attribute("data-geometry") or "")
    box = teacher.locator(".long-map .figure canvas").bounding_box()
    assert box
    x, y = box["x"] + plot["x"] + plot["width"] / 4, box["y"] + plot["y"] + plot["height"] / 2
    teacher.mouse.move(x, y)
    tip = phone.locator(".long-map .tip")
    expect(tip).to_have_text(teacher.locator(".long-map .tip").inner_text(), timeout=FOLLOWED_IN)

    whole = mine.get_attribute("data-view") or ""
    teacher.get_by_role("button", name="zoom in").click()
    expect(mine).not_to_have_attribute("data-view", whole)
    expect(its).to_have_attribute("data-view", mine.get_attribute("data-view") or "", timeout=FOLLOWED_IN)
    teacher.mouse.move(x, y)
    teacher.mouse.down()
    for far in (20, 40, 60):  # while it is held
        teacher.mouse.move(x - far, y - far)
        teacher.wait_for_timeout(50)
        now = mine.get_attribute("data-view") or ""
        expect(its).to_have_attribute("data-view", now, timeout=FOLLOWED_IN)
    teacher.mouse.up()
    teacher.locator(".long-map .side input").first.fill("cat")
    expect(phone.locator(".long-map .side input").first).to_have_value("cat", timeout=FOLLOWED_IN)
    end_room(teacher)
    expect(phone.locator("form")).to_be_visible()
