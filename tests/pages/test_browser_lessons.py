"""A lesson in the browser: alone as a tour, and with a class that follows it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from lessons.shelf import HERE, Lesson, lessons
from pages.entries import ENTRIES
from tests.browser import Server
from tests.pages.visiting import PATIENCE, end_room, eventually, wait_for_heads, wait_for_rest

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def shipped(language: str, number: int = 0) -> Lesson:
    return lessons([HERE], language, {entry.address for entry in ENTRIES})[0][number]


def way(page: Page, name: str) -> Locator:
    return page.locator(f".st-key-lesson_{name} :is(button, a)").first


def place(url: str) -> tuple[str, str, str]:
    """Page, lesson and step of an address."""
    parts = dict(parse_qsl(urlsplit(url).query))
    return urlsplit(url).path.strip("/"), parts.get("lesson", ""), parts.get("step", "1")


HEADINGS = {"en": ["Lessons", "Tours of a whole subject"], "zh": ["课程", "主题导览"]}


def expect_step(page: Page, lesson: Lesson, number: int) -> None:
    step = lesson.steps[number - 1]
    expect(page.locator(".st-key-lesson h2")).to_have_text(step.title, timeout=PATIENCE)
    page.wait_for_url(lambda url: place(url) == (step.page, lesson.name, str(number)))
    wait_for_rest(page)
    if page.locator(".st-key-lesson_skip button").count():
        page.locator(".st-key-lesson_skip button").click()
        expect(page.locator(".st-key-lesson_asks")).to_have_count(0, timeout=PATIENCE)
        wait_for_rest(page)
    expect(way(page, "again")).to_have_count(0, timeout=PATIENCE)


def open_lesson(page: Page, server: Server, language: str, number: int = 0) -> Lesson:
    lesson = shipped(language, number)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server.url}/masks?lang={language}")
    page.locator(".mask-gallery[data-painted]").wait_for(timeout=PATIENCE)
    page.locator(".st-key-lessons_menu button").first.click()
    named = page.locator(".st-key-lesson_list").get_by_text(lesson.title, exact=True)
    expect(named).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".st-key-lesson_list .atlas-caption")).to_have_text(HEADINGS[language])
    page.evaluate("window.before = history.length")
    named.click()
    return lesson


@pytest.mark.long
@pytest.mark.parametrize("language, number", [("en", 5), ("en", 6), ("en", 7), ("en", 8), ("en", 9), ("zh", 9)])
def test_every_step_of_a_tour_of_a_whole_subject_is_reached_by_next(page, server, language, number):
    lesson = open_lesson(page, server, language, number)
    for step in range(1, len(lesson.steps)):
        expect_step(page, lesson, step)
        way(page, "next").click()
    expect_step(page, lesson, len(lesson.steps))


@pytest.mark.long
@pytest.mark.parametrize("language, number", [("en", 0), ("en", 1), ("en", 2), ("en", 3), ("en", 4), ("zh", 0)])
def test_a_tour_goes_on_and_back_and_its_address_can_be_passed_on(page, server, new_page, language, number):
    lesson = open_lesson(page, server, language, number)
    for number in range(1, len(lesson.steps)):
        expect_step(page, lesson, number)
        way(page, "next").click()
    expect_step(page, lesson, len(lesson.steps))
    assert page.evaluate("history.length - before") == len(lesson.steps)  # one step of Back for each
    if lesson.name == "cache":
        expect(way(page, "next")).to_be_disabled()
    else:
        expect(way(page, "on")).to_be_visible()
    page.go_back()
    expect_step(page, lesson, len(lesson.steps) - 1)
    page.reload()
    expect_step(page, lesson, len(lesson.steps) - 1)
    other = new_page()
    other.goto(page.url)
    expect_step(other, lesson, len(lesson.steps) - 1)
    other.locator(".st-key-lesson_close button").click()
    expect(other.locator(".st-key-lesson")).to_have_count(0, timeout=PATIENCE)
    eventually(other, lambda: other.url, lambda url: "lesson" not in url and "step=" not in url)


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.long), "zh"])
def test_a_class_follows_a_lesson_and_is_asked_its_question(
    page: Page, server: Server, new_page: Callable[..., Page], language: str
):
    lesson = open_lesson(page, server, language)
    expect_step(page, lesson, 1)
    page.locator(".st-key-open_room button").click()
    code = page.locator(".atlas-huge").inner_text()
    phone = new_page(**PHONE, locale={"en": "en-GB", "zh": "zh-CN"}[language])
    phone.goto(f"{server.url}/join/{code}")
    page.locator(".st-key-hide_code button").click()
    first = lesson.steps[0]
    expect(page.locator(".atlas-answered")).to_be_visible(timeout=PATIENCE)  # the step asks before it shows
    expect(page.locator(".st-key-asked_map .head-map[data-painted]")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".st-key-lesson h2")).to_have_text(first.title)
    assert page.locator(".token-lines, .atlas-next, .token-strip, .head-grid").count() == 0
    expect(phone.locator(".vote h2")).to_be_visible(timeout=PATIENCE)
    expect(phone.locator(".head-map")).to_have_count(0)
    phone.locator(".vote .options button").nth(1).click()
    expect(phone.locator(".answer")).not_to_be_empty()
    wait_for_rest(page)
    page.keyboard.press("PageDown")  # on the laptop: the answers, and then the page
    expect(page.locator(".st-key-poll_actions [data-testid=stDownloadButton]")).to_be_visible(timeout=PATIENCE)
    expect(phone.locator("p.own")).not_to_be_empty(timeout=PATIENCE)
    wait_for_rest(page)
    page.keyboard.press("PageDown")
    expect(page.locator(".st-key-class_poll")).to_have_count(0, timeout=PATIENCE)
    expect_step(page, lesson, 1)
    expect(phone.locator(".words")).to_contain_text(first.title, timeout=PATIENCE)
    expect(phone.locator(".words")).to_contain_text(first.plain_words.split("\n")[0])
    expect(phone.locator(".head-map")).to_be_visible(timeout=PATIENCE)
    page.keyboard.press("PageDown")
    expect_step(page, lesson, 2)
    page.keyboard.press("PageUp")
    expect_step(page, lesson, 1)
    page.locator("h1").first.click()  # the keyboard is of no button
    page.keyboard.press("p")
    page.keyboard.press("PageDown")  # of a presenter's two buttons
    expect_step(page, lesson, 2)
    expect(phone.locator(".words")).to_contain_text(lesson.steps[1].title, timeout=PATIENCE)
    page.keyboard.press("PageUp")
    expect_step(page, lesson, 1)
    expect(phone.locator(".words")).to_contain_text(first.title, timeout=PATIENCE)
    expect(phone.locator(".head-map")).to_be_visible(timeout=PATIENCE)
    way(page, "next").click()
    expect_step(page, lesson, 2)
    expect(phone.locator(".words")).to_contain_text(lesson.steps[1].title, timeout=PATIENCE)
    way(page, "back").click()
    expect_step(page, lesson, 1)
    expect(phone.locator(".words")).to_contain_text(first.title, timeout=PATIENCE)
    page.keyboard.press("p")
    end_room(page)


def test_a_recorded_step_or_why_there_is_none_is_seen_where_it_was_asked_for(page: Page, server: Server):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server.url}/masks?lang=en")
    page.locator(".mask-gallery[data-painted]").wait_for(timeout=PATIENCE)
    page.locator(".st-key-open_room button").click()
    page.locator(".st-key-hide_code button").click(timeout=PATIENCE)
    page.locator(".st-key-record_menu button").first.click()
    record = page.locator("[data-testid=stForm] button").last
    record.evaluate("(button) => button.scrollIntoView({ block: 'end' })")  # its answer is seen all the same
    record.click()
    expect(page.locator(".st-key-record_given [data-testid=stAlert]")).to_be_in_viewport(timeout=PATIENCE, ratio=0.5)
    page.keyboard.press("Escape")
    page.locator(".st-key-end_room button").click()  # nobody answered anything: it ends at once
    expect(page.locator(".st-key-open_room button")).to_be_visible(timeout=PATIENCE)


WATCH_MAPS = """() => {
    window.bothMaps = false
    const seen = (name) => document.querySelector(`.st-key-${name}`)?.checkVisibility() ?? false
    const watch = () => { bothMaps ||= seen('asked_map') && seen('head_map') }
    new MutationObserver(watch).observe(document.body, { attributes: true, childList: true, subtree: true })
}"""


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.long), "zh"])
def test_a_question_is_answered_alone_and_the_page_comes_with_a_verdict(page: Page, server: Server, language: str):
    lesson = shipped(language)
    step = lesson.steps[0]
    page.goto(f"{server.url}/{step.page}?{urlencode(step.parts)}&lang={language}&lesson={lesson.name}")
    expect(page.locator(".st-key-lesson_asks h2")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".st-key-lesson_asks .head-map[data-painted]")).to_be_visible(timeout=PATIENCE)
    assert page.locator(".token-lines, .atlas-next, .token-strip, .head-grid").count() == 0
    page.evaluate(WATCH_MAPS)
    if language == "zh":
        page.locator(".st-key-lesson_options button").nth(3).click()
    else:  # a cell of the last row, which is covered
        canvas = page.locator(".st-key-lesson_asks canvas")
        box = canvas.bounding_box()
        assert box
        canvas.click(position={"x": 0.61 * box["width"], "y": 0.83 * box["height"]})
    expect(page.locator(".atlas-verdict")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".st-key-lesson_asks")).to_have_count(0, timeout=PATIENCE)
    expect(page.locator(".head-map[data-painted]")).to_be_visible(timeout=PATIENCE)
    assert not page.evaluate("bothMaps"), "the map of the question stood beside the page's"
    way(page, "next").click()
    expect(page.locator(".st-key-lesson h2")).to_have_text(lesson.steps[1].title, timeout=PATIENCE)
    page.go_back()
    expect(page.locator(".st-key-lesson h2")).to_have_text(step.title, timeout=PATIENCE)
    expect(page.locator(".atlas-verdict")).to_be_visible(timeout=PATIENCE)


BESIDE_SIDEBAR: list[ViewportSize] = [
    {"width": 1024, "height": 768},
    {"width": 844, "height": 390},
    {"width": 769, "height": 900},
]


def test_beside_the_open_sidebar_of_a_narrow_window_every_word_and_button_of_a_card_is_reached(page, server):
    page.set_viewport_size(BESIDE_SIDEBAR[0])
    page.goto(f"{server.url}/?lesson=attention&step=2")
    wait_for_heads(page)
    for card, buttons in ((".st-key-lesson", 3), (".st-key-reading", 1)):  # the explanation lies on the step
        for size in BESIDE_SIDEBAR:
            page.set_viewport_size(size)
            page.wait_for_timeout(400)
            expect(page.get_by_test_id("stSidebar")).to_be_in_viewport(ratio=1)
            page.locator(f"{card} h2").click(trial=True, position={"x": 2, "y": 4})
            controls = page.locator(f"{card} button:enabled:visible")
            assert controls.count() >= buttons
            for control in controls.all():
                control.click(trial=True, timeout=2000)
        page.get_by_role("button", name="Read this picture").click()
        wait_for_rest(page)
