"""The last lesson of a server that drains: it continues, nobody new is admitted, and then the server ends."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Watch, free_port
from tests.hosting.visitors.hosted import Hosted, hosted_app, opened
from tests.pages.test_browser_class import PHONE
from tests.pages.visiting import end_room, type_text, wait_for_rest

TYPED = "My quokka eats zeppelins"
QUIET = 25_000  # milliseconds until a page on which nobody does anything has the notice
WAIT = 30  # seconds until a server whose visitors have left is gone


@pytest.fixture
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """A server without TLS, which ends as soon as it is told to."""
    port = free_port()
    server = {"port": port, "url": f"http://127.0.0.1:{port}/atlas", "certificate": "", "key": ""}
    with hosted_app(tmp_path_factory.mktemp("drained"), sessions=9, server=server, log={"format": "json"}) as held:
        yield held


@pytest.mark.long
def test_a_lesson_goes_on_and_the_server_ends_after_it(hosted: Hosted, new_page: Callable[..., Page], watch: Watch):
    teacher, phone, guest = new_page(), new_page(**PHONE), new_page(locale="zh-CN")
    opened(teacher, f"{hosted.url}/cell?layer=3&head=1")
    teacher.locator(".st-key-visitors_foot").get_by_role("button", name="For teachers: sign in").click()
    expect(teacher.locator(".st-key-visitors_foot")).to_contain_text("Ada teaches")
    wait_for_rest(teacher)
    teacher.locator(".st-key-open_room button").click()
    code = teacher.locator(".atlas-huge").inner_text()
    teacher.locator(".st-key-hide_code button").click()
    local = f"http://127.0.0.1:{hosted.serving.local}"
    urllib.request.urlopen(urllib.request.Request(f"{local}/drain?minutes=45", method="POST"))
    told = "This server restarts within 45 min"
    expect(teacher.get_by_test_id("stToast")).to_contain_text(told, timeout=QUIET)  # without a click
    expect(teacher.locator(".st-key-visitors_foot")).to_contain_text(told)
    guest.goto(f"{hosted.url}/")
    expect(guest.get_by_test_id("stAlert")).to_contain_text("服务器要在正在上的课结束后重新启动")
    assert urllib.request.urlopen(f"{local}/healthz").read() == b"draining\n"
    assert "\natlas_draining 1\n" in hosted.metrics()
    phone.goto(f"{hosted.url}/join/{code}")
    expect(phone.locator(".cell-steps")).to_be_visible()
    teacher.reload()
    expect(teacher.locator(".st-key-visitors_foot")).to_contain_text("This server restarts within")
    type_text(teacher, TYPED)
    wait_for_rest(teacher)
    expect(phone.locator("main section:not(.vote) > .text")).to_have_text(TYPED)
    assert hosted.serving.is_running
    end_room(teacher)
    expect(phone.locator(".problem")).to_have_text("The teacher has ended this room.")
    wait_for_rest(teacher)
    teacher.locator(".st-key-open_room button").click()
    expect(
        teacher.get_by_text("This server is about to restart: no new room can be opened until then.")
    ).to_be_visible()
    for page in (guest, phone, teacher):
        page.close()
    until = time.monotonic() + WAIT
    while hosted.serving.is_running and time.monotonic() < until:
        time.sleep(0.2)
    assert not hosted.serving.is_running
    watch.errors.clear()  # of the connections to what has ended
    _lines(hosted, code)


def _lines(hosted: Hosted, code: str) -> None:
    """One event a line, and nothing of what visitors and the machine's folders are called."""
    text = hosted.serving.log.read_text()
    events = [json.loads(line) for line in text.splitlines()]
    assert {tuple(event) for event in events} == {("time", "level", "logger", "message")}
    said = [event["message"] for event in events if event["logger"] == "atlas"]
    assert said == [
        f"Attention Atlas is at {hosted.url}",
        "The server is ready.",
        "Draining: nobody new is let in, and the server ends in 45 minutes at the latest.",
        "Draining is over.",
        "The server ends.",
    ]
    for words in ("quokka", code, "Loading weights", "LOAD REPORT", "Traceback", str(hosted.folder), "ada@school"):
        assert words not in text
