"""Visit the app with a browser: what a reader does and sees, as short functions."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.browser import PATIENCE, Server
from ui.state.url_state import DEFAULT_TEXT

T = TypeVar("T")

CAPITAL = "The capital of France is"
CAPITAL_TOKENS = ("The", "·capital", "·of", "·France", "·is")


def visit(page: Page, server: Server, path: str = "", **address: str) -> Page:
    """Open the app at this address and wait until its frame is drawn, with the text in its box.

    An address that says nothing reads `DEFAULT_TEXT`, the text of a link without one; a first visit has another.
    """
    address = address or {"text": DEFAULT_TEXT}
    page.goto(f"{server.url}/{path}?{urlencode(address)}")
    page.locator(".atlas-title").wait_for(timeout=PATIENCE)
    if address.get("model", "").startswith("/"):
        page.locator(".st-key-fetch_model button").click(timeout=PATIENCE)  # a link alone opens no folder
    if address.get("text") != "":
        expect_text(page)
    return page


def wait_for_heads(page: Page) -> Page:
    """Wait until every head, the open one and the tokens are painted, and their text is in its box."""
    page.locator(".head-grid[data-painted]").wait_for(timeout=PATIENCE)
    page.locator(".head-map[data-painted]").wait_for(timeout=PATIENCE)
    page.locator(".token-strip[data-painted]").first.wait_for(timeout=PATIENCE)
    expect_text(page)
    return page


def wait_for_rest(page: Page) -> None:
    """Wait until no run of the page's script is under way."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=PATIENCE)


def text_box(page: Page) -> Locator:
    return page.locator(".st-key-text_box textarea")


def expect_text(page: Page) -> None:
    """Wait until the box holds a text. Streamlit (1.67) loads its box late and shows it empty for some 30 ms before it
    puts the text in, over whatever was typed meanwhile.
    """
    expect(text_box(page)).not_to_have_value("")


def type_text(page: Page, text: str) -> None:
    """Type another text and ask for it."""
    text_box(page).fill(text)
    text_box(page).press("Control+Enter")


def expect_head(page: Page, name: str) -> None:
    expect(page.locator(".atlas-head").first).to_contain_text(name)


def expect_tokens(page: Page, *tokens: str) -> None:
    """The chips of the token strip, the first special one left out."""
    expect(page.locator(".token-strip .chip .label")).to_have_text(["⟨bos⟩", *tokens])


def eventually(page: Page, read: Callable[[], T], wanted: Callable[[T], bool]) -> T:
    """Read what a page shows until it is what is wanted, as expect() does, and give it back; at the end, fail on it."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not wanted(found := read()):
        assert time.monotonic() < deadline, found
        page.wait_for_timeout(50)
    return found


def expect_sentence(page: Page, words: str) -> None:
    """The one box that says what is wrong, and no traceback."""
    expect(page.get_by_test_id("stAlert")).to_have_count(1, timeout=PATIENCE)
    expect(page.get_by_test_id("stAlert")).to_contain_text(words)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def click_head(page: Page, layer: int, head: int, group: int = 2) -> None:
    """Click on a head's square in the grid; ``group`` neighbours share a key and value head."""
    at = json.loads(page.locator(".head-grid").get_attribute("data-geometry") or "{}")
    x = at["left"] + (head + 0.5) * at["pitch"] + head // group * at["groupGap"]
    page.locator(".head-grid canvas").click(position={"x": x, "y": at["top"] + (layer + 0.5) * at["rowHeight"]})


def click_strip(page: Page, layer: int, head: int, n_heads: int = 8) -> None:
    """Click on a head in the strip of the model, in a layer that has room for its heads."""
    ticks = page.locator(f".model-strip [data-layer='{layer}'] path.heads").bounding_box()
    assert ticks is not None
    x = ticks["x"] + ticks["width"] * (head + 0.5) / n_heads
    page.mouse.click(x, ticks["y"] + ticks["height"] / 2)


def click_cell(page: Page, query: int, key: int, n_tokens: int) -> None:
    """Click on a cell of the whole map."""
    at = json.loads(page.locator(".head-map").get_attribute("data-geometry") or "{}")
    x = at["x"] + (key + 0.5) * at["width"] / n_tokens
    y = at["y"] + (query + 0.5) * at["height"] / n_tokens
    page.locator(".head-map canvas").first.click(position={"x": x, "y": y})


def expect_address(page: Page, **parts: str) -> None:
    """Wait until the address in the browser's bar holds these parts and no others; the head only where it is named."""
    beside = {"layer", "head"} - parts.keys()

    def held(url: str) -> bool:
        return {name: value for name, value in address(url).items() if name not in beside} == parts

    page.wait_for_url(held, timeout=PATIENCE, wait_until="commit")


def address(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query, keep_blank_values=True).items()}


def end_room(page: Page) -> None:
    """The teacher ends a room in which phones are, or something was asked: it is asked first."""
    page.locator(".st-key-end_room button").click()
    page.locator(".st-key-end_it button").click()


def choose_display(page: Page, figure: str, name: str) -> None:
    """One of the choices in the menu of a figure, which is open while it is chosen; by its words."""
    menu = page.locator(f".st-key-{figure}_display button")
    menu.click()
    page.get_by_role("radio", name=name, exact=True).click()
    page.keyboard.press("Escape")
