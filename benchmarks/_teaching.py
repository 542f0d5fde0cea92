"""A teacher's actions in a real Chromium, for scripts that measure what a class sees and what it costs."""

from __future__ import annotations

import time

from playwright.sync_api import Locator, Page

from benchmarks._app import App, settle
from benchmarks._followers import VOTING

PATIENCE = 180_000  # ms, for a busy machine
HEAD_MAP, PAINTED = ".head-map canvas", ".head-map[data-painted]"


def opened_room(page: Page, app: App) -> str:
    """The app, opened on Heads, and its room's code, which is no longer shown."""
    app.open(page)
    page.set_default_timeout(PATIENCE)
    page.locator(PAINTED).wait_for()
    page.locator(".st-key-open_room button").click()
    code = page.locator(".atlas-huge").inner_text()
    page.locator(".st-key-hide_code button").click()
    settle(page)
    return code


def all_there(page: Page, count: int) -> None:
    """Wait until so many followers are connected."""
    page.locator(f".room-link[data-there='{count}']").wait_for(timeout=120_000)


def go(page: Page, name: str, there: Locator) -> None:
    """Go to another page, and wait until ``there`` is visible and nothing is running."""
    page.locator(".st-key-navigation a").get_by_text(name, exact=True).click()
    there.wait_for()
    settle(page)


def click_head(page: Page, number: int) -> None:
    """Click on one of sixteen heads of the grid."""
    box = page.locator(".head-grid canvas").bounding_box()
    assert box
    share = 0.25 + 0.5 * (number % 2)
    page.mouse.click(box["x"] + share * box["width"], box["y"] + (0.3 + 0.05 * (number % 8)) * box["height"])


def cell(page: Page, number: int) -> tuple[float, float]:
    """The position of one of two cells of the map; located before it is pointed at, since that may take long itself."""
    box = page.locator(HEAD_MAP).first.bounding_box()
    assert box
    return box["x"] + 150 + 60 * (number % 2), box["y"] + 250


def vote(page: Page, followers: int) -> int:
    """Ask what the head does, and reveal the answers; returns how many votes were counted in time."""
    counted = ask(page, followers)
    reveal(page)
    return counted


def reveal(page: Page) -> None:
    """Reveal the answers, and go back to the page."""
    page.locator(".st-key-reveal button").click()
    page.locator(".st-key-drop_poll button").click()
    page.locator(PAINTED).wait_for()
    settle(page)


def ask(page: Page, followers: int) -> int:
    """Ask what the head does; returns how many votes were counted in time."""
    page.locator(".st-key-ask_class button").first.click()
    page.locator(".st-key-ask_ablate button").click()
    page.locator(".class-answered").wait_for()
    deadline = time.monotonic() + VOTING + 5
    while time.monotonic() < deadline and page.locator(".class-answered").inner_text() != str(followers):
        page.wait_for_timeout(50)
    return int(page.locator(".class-answered").inner_text())
