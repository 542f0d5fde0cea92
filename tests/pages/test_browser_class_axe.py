"""What axe finds wrong on a phone of a class, in light and dark, whatever it is shown or asked: nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.axe import found_in_both
from tests.browser import PATIENCE, Server
from tests.pages.test_browser_class import PHONE, ask, click, in_words
from tests.pages.visiting import wait_for_heads, wait_for_rest

pytestmark = [pytest.mark.browser, pytest.mark.long]

LOCALE = {"en": "en-GB", "zh": "zh-CN"}
ANSWER = ".vote .answer:not(:empty)"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_axe_finds_nothing_wrong_on_a_phone_whatever_it_is_shown_or_asked(
    server: Server, new_page: Callable[..., Page], axe: str, lang: str
):
    teacher, phone = new_page(), new_page(**PHONE, locale=LOCALE[lang])
    wrong: dict[str, list[str]] = {}

    def look(state: str, there: str) -> None:
        expect(phone.locator(there).first).to_be_visible(timeout=PATIENCE)
        wrong[state] = found_in_both(phone, axe)

    def asked(kind: str, tap: Callable[[], None]) -> None:
        """The question, an answer to it, and both columns at the reveal."""
        look(kind, ".vote h2")
        tap()
        look(f"{kind}, answered", ANSWER)
        click(teacher, "reveal")
        expect(phone.locator(".figure .chart")).to_have_count(2)
        look(f"{kind}, revealed", ".figure .chart")
        click(teacher, "drop_poll")
        expect(phone.locator(".figure[data-key^=poll_]")).to_have_count(0)
        wait_for_rest(teacher)

    teacher.goto(f"{server.url}/?lang={lang}&layer=6&head=4&lesson=attention")
    wait_for_heads(teacher)
    click(teacher, "open_room")
    code = teacher.locator(".atlas-huge").inner_text()
    phone.goto(f"{server.url}/join/{code}")
    look("waiting", "header h1")
    click(teacher, "hide_code")
    look("a lesson's words", "main section:not(.vote) > .words b")
    expect(phone.locator(".head-map")).to_be_visible()
    look("a lesson's picture", ".head-map")
    click(teacher, "ask_class")
    teacher.locator(".st-key-ask_names label").first.click()
    wait_for_rest(teacher)
    teacher.keyboard.press("Escape")
    click(teacher, "lesson_ask")
    name, options = phone.get_by_label(in_words(lang, "Your name")), phone.locator(".vote .options:not(.layers) button")
    expect(name).to_be_visible(timeout=PATIENCE)
    name.fill("Ada")
    asked("where, with a name", options.nth(1).click)
    click(teacher, "lesson_close")
    expect(teacher.locator(".st-key-lesson")).to_have_count(0, timeout=PATIENCE)
    wait_for_rest(teacher)
    ask(teacher, "ablate")
    asked("ablate", options.first.click)
    ask(teacher, "head")
    look("head, no layer yet", ".vote .layers button")
    phone.locator(".vote .layers button").nth(2).click()
    asked("head", options.nth(1).click)
    ask(teacher, "next")
    phone.locator(".vote label input").last.fill("zzzqqq")
    look("next, of no token", ".vote .problem:not(:empty)")
    phone.locator(".vote label input").last.fill("wa")
    asked("next", options.first.click)
    _cover_a_number(teacher, lang)
    look("number", ".vote form")
    phone.locator(".vote form input").fill("x")
    phone.locator(".vote form button").click()
    look("number, of no number", ".vote .problem:not(:empty)")
    phone.locator(".vote form input").fill("0.25")
    asked("number", phone.locator(".vote form button").click)
    click(teacher, "end_room")
    look("ended", "form .problem, main .problem")
    assert {state: found for state, found in wrong.items() if found} == {}
    assert len(wrong) > 15


def _cover_a_number(teacher: Page, lang: str) -> None:
    """Step by step, and a covered number of it handed on to the class."""
    words = re.compile(f"^{in_words(lang, 'Step by step')}$")
    teacher.locator(".st-key-navigation a").get_by_text(words).click()
    figure = teacher.locator(".step-by-step[data-painted]")
    figure.wait_for(timeout=PATIENCE)
    wait_for_rest(teacher)
    figure.locator("button[data-step=scores]").click()
    figure.locator("button.ask").click()
    wait_for_rest(teacher)
    figure.locator(".result td[data-row='1'][data-column='0']").click()
    figure.locator("button.pass").click()
    expect(teacher.locator(".atlas-answered")).to_be_visible(timeout=PATIENCE)
