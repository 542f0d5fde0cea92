"""A teacher whose page is loaded again, and whose server is killed, in the real browser: the class goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser import PATIENCE, Watch, free_port, running_app
from tests.pages.test_browser_class import PHONE, click, click_head
from tests.pages.visiting import end_room, eventually
from ui.classroom.sidebar import AGAIN

pytestmark = [pytest.mark.browser, pytest.mark.long]

BACK_IN = 10.0  # seconds after the teacher, by the issue


def open_room(teacher: Page, url: str) -> str:
    """Its code, on a page that stands there as before."""
    teacher.goto(f"{url}/?layer=3&head=1")
    expect(teacher.locator(".head-grid")).to_have_attribute("data-selected", "3,1", timeout=2 * PATIENCE)
    click(teacher, "open_room")
    code = teacher.locator(".atlas-huge").inner_text()
    click(teacher, "hide_code")
    return code


def test_a_class_goes_on_after_the_teacher_reloads_and_after_the_server_is_killed(
    tmp_path: Path, new_page: Callable[..., Page], watch: Watch
):
    teacher, phone, port = new_page(), new_page(**PHONE), free_port()
    with running_app(tmp_path / "first.txt", port=port) as server:
        code = open_room(teacher, server.url)
        phone.goto(f"{server.url}/join/{code}")
        expect(phone.locator(".head-grid")).to_have_attribute("data-selected", "3,1")
        teacher.reload()
        expect(teacher.locator(".room-link[data-there='1']")).to_have_text("1 here")
        expect(teacher.locator(".atlas-code")).to_have_text(code)
        click_head(teacher, 5, 2)
        expect(phone.locator(".head-grid")).to_have_attribute("data-selected", "5,2")
        os.kill(server.pid, signal.SIGKILL)
        expect(phone.locator(".lost")).to_contain_text("No connection")
    with running_app(tmp_path / "second.txt", port=port):
        expect(teacher.locator(".st-key-room_box").get_by_text(AGAIN)).to_be_visible(timeout=2 * PATIENCE)
        at = time.monotonic()
        expect(teacher.locator(".room-link[data-there='1']")).to_have_text("1 here")
        assert time.monotonic() - at < BACK_IN
        expect(teacher.locator(".atlas-code")).to_have_text(code)
        expect(phone.locator("header .state")).to_have_text("")
        click_head(teacher, 2, 1)
        expect(phone.locator(".head-grid")).to_have_attribute("data-selected", "2,1")
        end_room(teacher)
        expect(phone.locator(".problem")).to_have_text("The teacher has ended this room.")
        teacher.reload()  # and what has ended does not come back
        expect(teacher.locator(".st-key-open_room")).to_be_visible()
        expect(teacher.locator(".room-link")).to_have_text("")
        expect(teacher.locator(".atlas-code")).to_have_count(0)
    watch.errors.clear()  # of the connections to a server that was killed


def test_a_room_comes_back_where_the_page_itself_is_connected_again_only_later(
    tmp_path: Path, new_page: Callable[..., Page], watch: Watch
):
    teacher, port, held, refused = new_page(), free_port(), [False], list[str]()

    def page_line(line: WebSocketRoute) -> None:
        line.close() if held[0] else line.connect_to_server()

    def room_line(line: WebSocketRoute) -> None:
        server = line.connect_to_server()
        server.on_message(lambda told: (line.send(told), '"refused"' in str(told) and refused.append(str(told))))

    teacher.route_web_socket("**/_stcore/stream", page_line)
    teacher.route_web_socket("**/classroom/talk", room_line)
    with running_app(tmp_path / "first.txt", port=port) as server:
        code = open_room(teacher, server.url)
        held[0] = True
        os.kill(server.pid, signal.SIGKILL)
    with running_app(tmp_path / "second.txt", port=port):
        eventually(teacher, lambda: len(refused), lambda count: count > 0)
        held[0] = False
        expect(teacher.locator(".st-key-room_box").get_by_text(AGAIN)).to_be_visible(timeout=2 * PATIENCE)
        expect(teacher.locator(".atlas-code")).to_have_text(code)
    watch.errors.clear()  # of the connections to a server that was killed
