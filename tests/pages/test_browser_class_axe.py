"""What axe finds wrong on a phone of a class, in light and dark, whatever it is shown or asked: nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.axe import found_in_both
from tests.browser import PATIENCE, Server
from tests.pages.test_browser_class import PHONE, ask, click, in_words
from tests.pages.visiting import end_room, wait_for_heads, wait_for_rest

pytestmark = pytest.mark.browser

LOCALE = {"en": "en-GB", "zh": "zh-CN"}
ANSWER = ".vote .answer:not(:empty)"
PROBLEM = ".vote .problem:not(:empty)"


@dataclass
class Looked:
    """A teacher, a phone, and what is wrong with the phone in each state so far."""

    teacher: Page
    phone: Page
    axe: str
    wrong: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def look(self, state: str, there: str) -> None:
        """At the phone, once it shows this."""
        expect(self.phone.locator(there).first).to_be_visible(timeout=PATIENCE)
        self.wrong[state] = found_in_both(self.phone, self.axe)

    def asked(self, kind: str, answer: Callable[[], None]) -> None:
        """A question, its answer, and at the reveal the class beside the model; then back to the page."""
        self.look(kind, ".vote h2")
        answer()
        self.look(f"{kind}, answered", ANSWER)
        click(self.teacher, "reveal")
        expect(self.phone.locator(".figure .chart")).to_have_count(2)
        self.look(f"{kind}, revealed", ".figure .chart")
        click(self.teacher, "drop_poll")
        expect(self.phone.locator(".figure[data-key^=poll_]")).to_have_count(0)
        wait_for_rest(self.teacher)

    @property
    def options(self) -> Locator:
        """What is tapped on for an answer."""
        return self.phone.locator(".vote .options:not(.layers) button")


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_axe_finds_nothing_wrong_on_a_phone_whatever_it_is_shown_or_asked(
    server: Server, new_page: Callable[..., Page], axe: str, lang: str
):
    teacher, phone = new_page(), new_page(**PHONE, locale=LOCALE[lang])
    held = Looked(teacher, phone, axe)
    teacher.goto(f"{server.url}/?lang={lang}&layer=6&head=4&lesson=attention")
    teacher.locator(".head-map[data-painted]").wait_for(timeout=PATIENCE)  # without the grid, where the step asks first
    wait_for_rest(teacher)
    click(teacher, "open_room")
    phone.goto(f"{server.url}/join/{teacher.locator('.atlas-huge').inner_text()}")
    held.look("waiting", "header h1")
    _follow_a_lesson(held, lang)
    ask(teacher, "ablate")
    held.asked("ablate", held.options.first.click)
    ask(teacher, "head")
    held.look("head, no layer yet", ".vote .layers button")
    phone.locator(".vote .layers button").nth(2).click()
    held.asked("head", held.options.nth(1).click)
    ask(teacher, "next")
    phone.locator(".vote label input").last.fill("zzzqqq")
    held.look("next, of no token", ".vote .quiet[role=status]:not(:empty)")
    phone.locator(".vote label input").last.fill("wa")
    held.asked("next", held.options.first.click)
    _cover_a_number(teacher, in_words(lang, "Step by step"))
    held.look("number", ".vote form")
    phone.locator(".vote form input").fill("x")
    phone.locator(".vote form button").click()
    held.look("number, of no number", PROBLEM)
    phone.locator(".vote form input").fill("0.25")
    held.asked("number", phone.locator(".vote form button").click)
    end_room(teacher)
    held.look("ended", ".problem:not(:empty)")
    assert {state: found for state, found in held.wrong.items() if found} == {}


@pytest.mark.parametrize("told", [None, "waits"], ids=["not connected yet", "the teacher is not back yet"])
def test_axe_finds_nothing_wrong_on_a_phone_that_was_shown_nothing_yet(
    server: Server, new_page: Callable[..., Page], axe: str, told: str | None
):
    phone = new_page(**PHONE)

    def instead(line: WebSocketRoute) -> None:
        """Of the server: it says this and nothing else."""
        line.on_message(lambda _joined: line.send(json.dumps({"kind": told})) if told else None)

    phone.route_web_socket("**/classroom/talk", instead)
    phone.goto(f"{server.url}/join/ACDEFG")
    words = "The teacher is not back yet" if told else "Connecting"
    expect(phone.locator("header .state")).to_contain_text(words)
    assert found_in_both(phone, axe) == []


def _follow_a_lesson(held: Looked, lang: str) -> None:
    """Its words, its picture, and its question, with a name."""
    click(held.teacher, "hide_code")
    if lang == "en":  # where the address shows the step's own picture
        expect(held.options.first).to_be_visible(timeout=PATIENCE)
        click(held.teacher, "lesson_skip")
    held.look("a lesson's words", "main section:not(.vote) > .words b")
    held.look("a lesson's picture", ".head-map")
    click(held.teacher, "ask_class")
    held.teacher.locator(".st-key-ask_names label").first.click()
    wait_for_rest(held.teacher)
    held.teacher.keyboard.press("Escape")
    click(held.teacher, "lesson_ask")
    name = held.phone.get_by_label(in_words(lang, "Your name"))
    expect(name).to_be_visible(timeout=PATIENCE)
    name.fill("Ada")
    held.asked("where, with a name", held.options.nth(1).click)
    click(held.teacher, "lesson_close")
    expect(held.teacher.locator(".st-key-lesson")).to_have_count(0, timeout=PATIENCE)
    wait_for_rest(held.teacher)


def _cover_a_number(teacher: Page, step_by_step: str) -> None:
    """A covered number of the page Step by step is handed on to the class."""
    teacher.locator(".st-key-navigation a").get_by_text(step_by_step, exact=True).click()
    figure = teacher.locator(".step-by-step[data-painted]")
    figure.wait_for(timeout=PATIENCE)
    wait_for_rest(teacher)
    figure.locator("button[data-step=scores]").click()
    figure.locator("button.ask").click()
    wait_for_rest(teacher)
    figure.locator(".result td[data-row='1'][data-column='0']").click()
    figure.locator("button.pass").click()
    expect(teacher.locator(".atlas-answered")).to_be_visible(timeout=PATIENCE)


@pytest.mark.long
def test_what_a_teacher_presses_next_is_legible_also_under_the_mouse(server: Server, new_page):
    teacher = new_page(color_scheme="light")
    teacher.goto(server.url)
    wait_for_heads(teacher)
    click(teacher, "open_room")
    button = teacher.locator(".st-key-hide_code button")
    button.hover()
    for scheme in ("light", "dark"):
        teacher.emulate_media(color_scheme=scheme)
        expect(teacher.locator(".theme-switch")).to_have_attribute("data-current", scheme, timeout=PATIENCE)
        teacher.wait_for_timeout(400)  # its colour passes over into the other one
        assert _contrast(button) >= 4.5, scheme  # WCAG 2.2, 1.4.3
    click(teacher, "end_room")  # at once: nobody is in it


def _contrast(button: Locator) -> float:
    """Of a button's words on its ground, after WCAG 2.2: (L1 + 0.05) / (L2 + 0.05)."""
    words = button.locator("p").evaluate("p => getComputedStyle(p).color")
    ground = button.evaluate("button => getComputedStyle(button).backgroundColor")
    darker, lighter = sorted(map(_luminance, (words, ground)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
