"""The rest of Heads and of the film, and the other questions to a class, by keys alone and as they are heard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import PATIENCE, Server
from tests.pages.test_browser_by_ear import MOST, expect_at, heard, open_room, reach
from tests.pages.test_browser_class import PHONE
from tests.pages.visiting import expect_address, visit, wait_for_heads, wait_for_rest

pytestmark = [pytest.mark.browser, pytest.mark.long]


def choose(page: Page, words: str) -> None:
    """Of a list that opens, or of a row of choices that the keyboard is at."""
    page.keyboard.type(words)
    page.keyboard.press("Enter")


def choose_next(page: Page, group: str, chosen: str) -> None:
    """The second of a row of choices, of which the keyboard first comes to the one that is chosen."""
    row = page.get_by_role("radiogroup", name=group)
    first = row.get_by_role("radio", checked=True)
    for _ in range(MOST):
        if first.evaluate("(one) => one === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    heard(row, f"radio {chosen} [checked]")
    wait_for_rest(page)


def test_what_heads_draws_is_chosen_by_keys_and_said(page: Page, server: Server):
    wait_for_heads(visit(page, server, layer="6", head="5"))
    wait_for_rest(page)
    reach(page, ".token-strip [role=option]")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    heard(page, 'option "·dog 2"')
    page.keyboard.press("Enter")
    expect_address(page, query="2")
    heard(page, 'option "·dog 2" [selected]', "L6H5: ·dog (2) puts 75 % on The (1)")
    wait_for_rest(page)
    reach(page, "[class*=metric] input")
    choose(page, "entropy")
    heard(page, "combobox metric: entropy", "L6H5 · entropy 0.71")
    reach(page, ".st-key-grid_display button")
    page.keyboard.press("Enter")
    choose_next(page, "drawing of the heads", "numbers")
    choose_next(page, "order", "ranked")
    page.keyboard.press("Escape")
    heard(page, "button ranked ×")
    reach(page, ".st-key-map_display button")
    page.keyboard.press("Enter")
    choose_next(page, "quantity", "scores")
    expect(page.get_by_role("switch", name="hide first token")).to_be_disabled()
    page.keyboard.press("Escape")
    heard(page, "button scores ×", "img L6H5: ·dog (2) ")
    reach(page, ".token-lines svg, .token-lines [tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".token-lines [aria-live=polite]")).not_to_have_text("")


def test_a_token_is_forced_beams_are_sought_and_a_branch_is_opened_by_keys(page: Page, server: Server):
    page.goto(f"{server.url}/film?film.length=4&sampling.temperature=0")
    expect(page.locator(".film")).to_have_attribute("data-frame", "0", timeout=PATIENCE)
    wait_for_rest(page)
    reach(page, ".film .step")
    page.keyboard.press("Enter")
    heard(page, "slider Frame: 1")
    reach(page, ".st-key-film_typed input")
    page.keyboard.type(" had")
    page.keyboard.press("Enter")
    heard(page, "button ·had, position 9: ", "Branches: 2")
    wait_for_rest(page)
    reach(page, ".token-tree [role=treeitem], .token-tree [role=tree]")
    page.keyboard.press("ArrowUp")  # from the open branch to the one above it
    page.keyboard.press("Enter")
    heard(page, "button ·was, position 8: ")
    wait_for_rest(page)
    reach(page, ".st-key-film_beams button")
    page.keyboard.press("Enter")
    heard(page, "beam 1", "treeitem")


@pytest.mark.parametrize(
    "key, question, answers, answer, revealed",
    [
        (
            "ask_where",
            "Where does “·it” (position 7) look, in head L6H5?",
            ("button 0 ⟨bos⟩", "button 7 ·it"),
            (".options button[data-value='3']",),
            ("3 ·chased: 1 · 100 %", "3 ·chased: 98 % · 0.0 bits"),
        ),
        (
            "ask_ablate",
            "Without head L6H5: is “·was” likelier as the next token, or less likely?",
            ("button likelier", "button less likely"),
            (".options button:nth-child(2)",),
            ("less likely: 1 · 100 %", "likelier: so it is"),
        ),
        (
            "ask_head",
            "In which head is this largest: previous token? (share of attention on the token just before)",
            ("First the layer, then the head.", "group layer"),
            ("[aria-label=layer] button:nth-child(4)", "[aria-label=head] button:nth-child(8)"),
            ("L3H7: 1 · 100 %", "L3H7: 95 %"),
        ),
    ],
)
def test_every_question_is_asked_answered_and_revealed_by_keys(
    page: Page,
    server: Server,
    new_page: Callable[..., Page],
    key: str,
    question: str,
    answers: tuple[str, ...],
    answer: tuple[str, ...],
    revealed: tuple[str, ...],
):
    phone = new_page(**PHONE)
    wait_for_heads(visit(page, server, layer="6", head="5"))
    wait_for_rest(page)
    phone.goto(f"{server.url}/join/{open_room(page)}")
    heard(phone, "You are in the room.")
    page.keyboard.press("Enter")
    expect_at(page, "[class*=st-key-ask_class] button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Ask the class")).to_be_focused(timeout=PATIENCE)
    reach(page, f".st-key-{key} button")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-reveal button")
    heard(phone.get_by_role("banner"), f"status: {question}")
    heard(phone, f"heading {question} [level=2]", *answers)
    for place in answer:
        reach(phone, place)
        phone.keyboard.press("Enter")
    heard(phone, "[pressed]", "status: Your answer: ")
    heard(page, "status: 1 of 1 answered")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-drop_poll button")
    for where in (page, phone):
        heard(where, *revealed)


def test_a_number_of_step_by_step_is_asked_typed_and_revealed_by_keys(
    page: Page, server: Server, new_page: Callable[..., Page]
):
    phone = new_page(**PHONE)
    page.goto(f"{server.url}/steps?steps.step=scores")
    expect(page.locator(".step-by-step[data-painted]")).to_be_visible(timeout=PATIENCE)
    wait_for_rest(page)
    phone.goto(f"{server.url}/join/{open_room(page)}")
    page.keyboard.press("Enter")
    expect_at(page, "[class*=st-key-ask_class] button")
    reach(page, ".step-by-step .bar .ask")
    page.keyboard.press("Enter")
    reach(page, ".step-by-step .result td")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    reach(page, ".step-by-step .bar .pass", "Shift+Tab")
    heard(page, "button Ask the class for this number")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-reveal button")
    question = page.get_by_role("main").get_by_role("heading", level=2).inner_text()
    heard(phone, f"heading {question} [level=2]", "textbox Type a number")
    reach(phone, ".vote input")
    phone.keyboard.type("0.25")
    phone.keyboard.press("Enter")
    heard(phone, "status: Your answer: 0.25")
    heard(page, "status: 1 of 1 answered")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-drop_poll button")
    for where in (page, phone):
        heard(where, "0.25")
