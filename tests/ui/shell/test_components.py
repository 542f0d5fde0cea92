"""Every message of a component arrives, once and in order, however busy the server is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import PATIENCE, running_app

pytestmark = pytest.mark.browser


@pytest.mark.long
def test_clicks_of_a_component_while_the_server_is_busy_are_all_heard(new_page: Callable[[], Page], tmp_path: Path):
    with running_app(tmp_path / "log.txt", script=Path(__file__).with_name("told_server.py")) as slow:
        page = new_page()
        page.goto(slow.url)
        expect(page.locator(".heard")).to_have_text("[]", timeout=PATIENCE)
        for i in (1, 3, 2, 5):  # the first one's run takes a second; those after it wait for its end
            page.locator(".token-strip .chip").nth(i).click()
            page.wait_for_timeout(100)
        expect(page.locator(".heard")).to_have_text("[1, 3, 2, 5]")
        page.locator(".token-strip .chip").first.click()
        expect(page.locator(".heard")).to_have_text("[1, 3, 2, 5, 0]")
        page.close()  # before its server
