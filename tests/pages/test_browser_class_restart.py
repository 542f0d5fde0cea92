"""A server that is killed and started again while a class answers: teacher's tab and phones go on by themselves."""

from __future__ import annotations

import csv
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from lessons.shelf import HERE, lessons
from pages.entries import ENTRIES
from tests.browser import PATIENCE, Watch, free_port, running_app
from tests.pages.test_browser_class import PHONE, ask, click
from tests.pages.visiting import end_room, wait_for_heads, wait_for_rest
from ui.classroom.sidebar import AGAIN

pytestmark = pytest.mark.browser

LONG = 3 * PATIENCE  # a server that starts imports the engine
SAME_PAGE = "position", 2  # a step without a question, whose next one is on the same page
GONE = ("WebSocket", "_stcore", "ERR_", "not responding")  # what a browser says of a server that is not there


@pytest.mark.long
@pytest.mark.parametrize("lesson", [False, True])
def test_the_open_question_is_there_again_with_every_answer_and_nobody_clicks(
    tmp_path: Path, new_page: Callable[..., Page], watch: Watch, lesson: bool
):
    port, env, log = free_port(), {"ATLAS_STATE": str(tmp_path)}, tmp_path / "log"
    teacher, phones = new_page(), [new_page(**PHONE) for _ in range(2)]
    with running_app(log, port=port, env=env) as server:
        address = "?layer=6&head=4" + "&lesson=attention" * lesson
        teacher.goto(f"{server.url}/{address}")
        teacher.locator(".head-map[data-painted]").wait_for(timeout=LONG)
        click(teacher, "open_room")
        code = teacher.locator(".atlas-huge").inner_text()
        click(teacher, "hide_code")
        for phone in phones:
            phone.goto(f"{server.url}/join/{code}")
        if lesson:
            expect(teacher.locator(".atlas-answered")).to_be_visible(timeout=PATIENCE)
        else:
            wait_for_heads(teacher)
            ask(teacher, "where")
        for number, phone in enumerate(phones):
            phone.locator(".vote .options button").nth(1 + number).click(timeout=PATIENCE)
            expect(phone.locator(".answer")).not_to_be_empty()
        expect(teacher.locator(".class-answered")).to_have_text("2")
        wait_for_rest(teacher)
        answers = [phone.locator(".answer").inner_text() for phone in phones]
        teacher.wait_for_timeout(500)
        link = teacher.locator(".room-link[data-there='2']")
        born = link.get_attribute("data-born") or ""
        os.kill(server.pid, signal.SIGKILL)
    with running_app(log, port=port, env=env):
        expect(link).not_to_have_attribute("data-born", born, timeout=LONG)  # the page has run on the new server
        expect(teacher.locator(".class-answered")).to_have_text("2", timeout=LONG)
        wait_for_rest(teacher)
        expect(teacher.get_by_text(AGAIN)).to_have_count(0)
        for phone, answer in zip(phones, answers, strict=True):
            expect(phone.locator(".lost")).to_be_empty(timeout=LONG)
            expect(phone.locator(".answer")).to_have_text(answer)
        phones[0].locator(".vote .options button").nth(4).click()
        expect(phones[0].locator(".answer")).not_to_have_text(answers[0], timeout=PATIENCE)
        click(teacher, "reveal")
        expect(teacher.locator(".st-key-results button")).to_be_visible(timeout=LONG)
        with teacher.expect_download() as download:
            click(teacher, "results")
        rows = list(csv.reader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig"))))
        assert sorted(int(row[4]) for row in rows[1:])[-2:] == [1, 1]
        click(teacher, "drop_poll")
        wait_for_heads(teacher)
        for phone in phones:
            expect(phone.locator(".head-map")).to_be_visible(timeout=LONG)
        end_room(teacher)
        for page in (teacher, *phones):
            page.close()
    watch.errors[:] = [one for one in watch.errors if not any(word in one for word in GONE)]


@pytest.mark.long
def test_a_click_on_reveal_before_the_engine_is_there_is_not_lost(
    tmp_path: Path, new_page: Callable[..., Page], watch: Watch
):
    """The browser still has the button, which the session on the new server has not drawn yet."""
    port, env, log = free_port(), {"ATLAS_STATE": str(tmp_path)}, tmp_path / "log"
    teacher, phone = new_page(), new_page(**PHONE)
    with running_app(log, port=port, env=env) as server:
        teacher.goto(f"{server.url}/?layer=6&head=4&lesson=attention")
        teacher.locator(".head-map[data-painted]").wait_for(timeout=LONG)
        click(teacher, "open_room")
        code = teacher.locator(".atlas-huge").inner_text()
        click(teacher, "hide_code")
        phone.goto(f"{server.url}/join/{code}")
        phone.locator(".vote .options button").nth(1).click(timeout=PATIENCE)
        expect(teacher.locator(".class-answered")).to_have_text("1")
        wait_for_rest(teacher)
        teacher.wait_for_timeout(500)
        os.kill(server.pid, signal.SIGKILL)
    reveal = teacher.locator(".st-key-reveal button")
    expect(reveal).to_be_disabled(timeout=LONG)
    expect(reveal).not_to_have_css("color", "rgb(255, 255, 255)")  # the page's own, behind a button that is disabled
    with running_app(log, port=port, env=env):
        teacher.get_by_text("Starting the engine").wait_for(timeout=LONG)
        click(teacher, "reveal")
        expect(teacher.locator(".st-key-results button")).to_be_visible(timeout=LONG)
        expect(phone.locator(".figure .chart")).to_have_count(2, timeout=PATIENCE)
        for page in (teacher, phone):
            page.close()
    watch.errors[:] = [one for one in watch.errors if not any(word in one for word in GONE)]


@pytest.mark.long
@pytest.mark.parametrize("key", ["lesson_skip", "lesson_next"])
def test_a_click_on_a_step_of_a_lesson_before_the_engine_is_there_is_not_lost(
    tmp_path: Path, new_page: Callable[..., Page], watch: Watch, key: str
):
    """Of who learns alone: past the question of a step, and on to the next step of the same page."""
    lesson, number = SAME_PAGE if key == "lesson_next" else ("attention", 1)
    port, log, page = free_port(), tmp_path / "log", new_page()
    with running_app(log, port=port) as server:
        page.goto(f"{server.url}/{_address(lesson, number)}")
        page.locator(f".st-key-{key} button").wait_for(timeout=LONG)
        wait_for_rest(page)
        page.wait_for_timeout(500)
        os.kill(server.pid, signal.SIGKILL)
    expect(page.locator(f".st-key-{key} button")).to_be_disabled(timeout=LONG)
    with running_app(log, port=port):
        expect(page.locator(f".st-key-{key} button")).to_be_enabled(timeout=LONG)  # connected: no page has run yet
        click(page, key)
        if key == "lesson_skip":
            expect(page.locator(".st-key-lesson_skip")).to_have_count(0, timeout=LONG)
            expect(page.locator(".head-map[data-painted]")).to_be_visible(timeout=LONG)
        else:
            expect(page.locator(".st-key-lesson_head")).to_contain_text(f"step {number + 1} of", timeout=LONG)
            wait_for_rest(page)
            expect(page.locator(".st-key-lesson_head")).to_contain_text(f"step {number + 1} of")  # and no further
        page.close()
    watch.errors[:] = [one for one in watch.errors if not any(word in one for word in GONE)]


def _address(name: str, number: int) -> str:
    """Of a step of an English lesson, with all that it opens."""
    files = {entry.address: entry.file for entry in ENTRIES}
    (lesson,) = [one for one in lessons([HERE], "en", files)[0] if one.name == name]
    step = lesson.steps[number - 1]
    return f"{step.page}?{urlencode([*step.parts, ('lesson', name), ('step', number)])}"
