"""Heads, the film and a question to a class by keys alone, and what a screen reader has to say at each point."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import PATIENCE, Server
from tests.pages.test_browser_class import PHONE
from tests.pages.visiting import eventually, expect_address, visit, wait_for_heads, wait_for_rest

MOST = 130  # stops of a page
AT = """(selector) => {
  let node = document.activeElement
  while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return node.matches(selector)
}"""


def reach(page: Page, selector: str, key: str = "Tab") -> None:
    """Press the key until the keyboard is there."""
    for _ in range(MOST):
        page.keyboard.press(key)
        if page.evaluate(AT, selector):
            return
    raise AssertionError(f"no {key} leads to {selector}")


def expect_at(page: Page, selector: str) -> None:
    """Wait until the keyboard is there by itself."""
    page.wait_for_function(AT, arg=selector, timeout=PATIENCE)


def bare(tree: str) -> str:
    """Without the marks of direction, and the quotation marks that YAML puts around what has a colon."""
    return re.sub("[\u2068\u2069\"']", "", tree)


def heard(where: Page | Locator, *said: str) -> None:
    """Wait until the tree of the page's main part, or of a part, has each of these: role, name, value."""
    part = where.get_by_role("main") if isinstance(where, Page) else where
    wanted = [bare(one) for one in said]
    eventually(part.page, lambda: bare(part.first.aria_snapshot()), lambda found: all(one in found for one in wanted))


def open_room(page: Page) -> str:
    """By keys; the keyboard is then on the button that goes on to the page, and this is the room's code."""
    reach(page, ".st-key-open_room button")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-hide_code button")
    return page.locator(".atlas-huge").inner_text()


def test_a_head_is_opened_and_a_cell_pinned_and_cleared_by_keys_and_all_of_it_is_said(page: Page, server: Server):
    wait_for_heads(visit(page, server, layer="6", head="5"))
    wait_for_rest(page)
    heard(page, 'heading "Which token looks', 'option "·it 7" [selected]', 'combobox "metric": previous token')
    reach(page, ".head-grid canvas")
    grid, the_map = page.locator(".head-grid"), page.locator(".head-map")
    heard(grid, 'img "Every head as a small map: layers down, heads across. Arrow keys move, Enter opens a head."')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(grid.locator("[aria-live=polite]")).to_contain_text("L7H4 · previous token 35 %")
    page.keyboard.press("Enter")
    expect_address(page, layer="7", head="4")
    heard(the_map, 'img "L7H4: ·it (7) puts 99 % on ·because (6)"')
    heard(page, "L7H4 · previous token 35 %")
    expect_at(page, ".head-grid canvas")
    reach(page, ".head-map canvas")
    page.keyboard.press("ArrowUp")
    heard(the_map, 'img "L7H4: ·because (6) puts 56 % on ·chased (3)"')
    page.keyboard.press("ArrowUp")
    expect(the_map.locator("[aria-live=polite]")).to_contain_text("squirrel")
    page.keyboard.press("ArrowLeft")  # from the whole row to the cell that is strongest in it
    page.wait_for_url(re.compile("query=5&key="), wait_until="commit")
    page.keyboard.press("Enter")
    heard(the_map, 'img "L7H4: ·squirrel (5) puts ')
    heard(page, "·squirrel (5) puts ")
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("query=none"), wait_until="commit")
    heard(the_map, 'img "L7H4"', "text: No cell is pinned.")
    expect_at(page, ".head-map canvas")


@pytest.mark.long
def test_the_film_is_stepped_played_rewound_and_turned_by_keys_and_all_of_it_is_said(page: Page, server: Server):
    page.goto(f"{server.url}/film?film.length=4&sampling.temperature=0")
    film = page.locator(".film")
    expect(film).to_have_attribute("data-frame", "0", timeout=PATIENCE)
    wait_for_rest(page)
    heard(film, 'button "Back to the prompt" [disabled]', 'button "Next token"', 'slider "Frame": "0"', "the prompt")
    reach(page, ".film .step")
    page.keyboard.press("Enter")
    heard(
        film, 'slider "Frame": "1"', "text: token 1 of 4", 'button "·was, position 8: the model gives it 59 %, rank 1"'
    )
    heard(film, 'heading "What comes next?', "was\u2069” puts ")
    reach(page, ".film .play", "Shift+Tab")
    page.keyboard.press("Space")
    heard(film, 'slider "Frame": "4"', "text: token 4 of 4", 'button "Play"')
    reach(page, ".film .start", "Shift+Tab")
    page.keyboard.press("Enter")
    heard(
        film,
        'slider "Frame": "0"',
        "text: the prompt",
        "then “\u2068was\u2069”",
        "Click another token to put it there instead: a branch.",
    )
    reach(page, ".film .candidate:nth-child(2)")
    page.keyboard.press("Enter")
    heard(film, 'slider "Frame": "1"', 'button "·wanted, position 8: ', "wanted\u2069” puts ")
    reach(page, ".film .scrub", "Shift+Tab")
    page.keyboard.press("ArrowLeft")
    heard(film, 'slider "Frame": "0"')


@pytest.mark.long
def test_a_question_is_asked_answered_revealed_and_dropped_by_keys_and_all_of_it_is_said(
    page: Page, server: Server, new_page: Callable[..., Page]
):
    phone = new_page(**PHONE)
    wait_for_heads(visit(page, server, layer="6", head="5"))
    wait_for_rest(page)
    code = open_room(page)
    heard(page, 'img "QR code of the link"', "On your phone, open", f"paragraph: {code}", 'button "Go on to the page"')
    phone.goto(f"{server.url}/join")
    heard(phone, 'textbox "Code of the room"', 'button "Join"')
    reach(phone, "input.code")
    phone.keyboard.type(code.lower())
    phone.keyboard.press("Enter")
    heard(phone, "You are in the room.")
    heard(page.get_by_role("region", name="Sidebar"), "status: 1 here")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-ask_class button")
    heard(phone, 'heading "Which token looks at which?')
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Ask the class")).to_be_focused(timeout=PATIENCE)
    heard(page.get_by_role("dialog"), 'button "Which token comes next?"', 'switch "ask for names"')
    reach(page, ".st-key-ask_next button")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-reveal button")
    question = 'heading "Which token comes next?" [level=2]'
    heard(page, question, "status: 0 of 1 answered", 'button "Reveal"', 'button "Drop the question"')
    heard(phone.get_by_role("banner"), "status: Which token comes next?")  # by itself, wherever the reader is
    heard(phone, question, 'textbox "Type a token"')
    reach(phone, ".vote input")
    phone.keyboard.type("was")
    heard(phone, 'button "·was"')
    reach(phone, ".options button")
    phone.keyboard.press("Enter")
    heard(phone, 'button "·was" [pressed]', "status: Your answer: ·was. You can still change it.")
    heard(page, "status: 1 of 1 answered")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-drop_poll button")
    counted, model = "answers: 1 · surprise: 0.76 bits", "unsure by 1.05 bits (entropy)"
    heard(page, f'heading "The class {counted}" [level=3]', f'heading "The model {model}" [level=3]')
    for where in (page, phone):
        heard(where, f"The class · {counted}. ·was: 1 · 100 %; ", f"The model · {model}. ·was: 59 % · 0.8 bits; ")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-ask_class button")
    heard(page, 'img "Every head as a small map')
    heard(phone, 'heading "Which token looks at which?', 'img "L6H5: ·it (7) puts 98 % on ·chased (3)"')
    reach(page, ".st-key-end_room button")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-keep_room button")
    asked = ("End the room? 1 here", 'button "Results as CSV"', 'button "End it"', 'button "Keep it"')
    heard(page.get_by_role("region", name="Sidebar"), *asked)
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-end_room button")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-keep_room button")
    reach(page, ".st-key-end_it button", "Shift+Tab")
    page.keyboard.press("Enter")
    expect_at(page, ".st-key-open_room button")
    heard(phone, "alert: The teacher has ended this room.", 'textbox "Code of the room"')
