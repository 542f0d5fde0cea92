"""A teacher's tab that is loaded again, or closed, while a class answers, in the real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import PATIENCE, Server
from tests.pages.test_browser_class import PHONE, ask, click
from tests.pages.visiting import end_room, eventually

pytestmark = pytest.mark.browser

# Whether a map was there, which tells the answer, before the question or the code was.
TOLD = """() => {
  const deep = (node) => [node, ...(node.shadowRoot ? inside(node.shadowRoot) : [])]
  const inside = (root) => [...root.querySelectorAll("*")].flatMap(deep)
  const look = () => {
    const nodes = inside(document)
    if (nodes.some((node) => node.matches(".atlas-question"))) return
    if (nodes.some((node) => node.matches(".head-map canvas, .head-grid canvas"))) window.told = true
    requestAnimationFrame(look)
  }
  look()
}"""


def test_a_page_loaded_again_shows_nothing_before_its_question_and_one_that_is_closed_asks_once(
    server: Server, new_page: Callable[..., Page]
):
    teacher, phone = new_page(), new_page(**PHONE)
    teacher.goto(f"{server.url}/?layer=3&head=1")
    click(teacher, "open_room")
    code = teacher.locator(".atlas-huge").inner_text()
    click(teacher, "hide_code")
    ask(teacher, "where")
    teacher.add_init_script(f"({TOLD})()")
    teacher.reload()
    expect(teacher.locator(".atlas-question")).to_be_visible(timeout=2 * PATIENCE)
    assert teacher.evaluate("window.told") is None
    asked: list[str] = []
    teacher.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    teacher.locator(".atlas-question").click()  # a browser asks only whom somebody has touched
    phone.goto(f"{server.url}/join/{code}")
    phone.locator(".options button").first.click()
    eventually(teacher, teacher.locator(".class-answered").first.inner_text, lambda count: count == "1")
    teacher.close(run_before_unload=True)
    eventually(phone, lambda: asked, lambda seen: seen == ["beforeunload"])
    click(teacher, "reveal")
    with teacher.expect_download():
        click(teacher, "results")
    end_room(teacher)
    kept = lambda: {one.get("name") for one in teacher.context.cookies()}  # noqa: E731
    eventually(teacher, kept, lambda names: "atlas-teaches" not in names)
