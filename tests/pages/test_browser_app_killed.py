"""An app that asks a server of models is killed and started again: what a reader had sent is there again."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from model_runner import load_runner
from tests.browser import PATIENCE, Watch, free_port, running_app
from tests.pages.visiting import (
    CAPITAL,
    CAPITAL_TOKENS,
    choose_display,
    click_cell,
    click_head,
    expect_head,
    expect_tokens,
    text_box,
    type_text,
    visit,
    wait_for_heads,
    wait_for_rest,
)
from tests.served.server import KEY, serving, settings

pytestmark = [pytest.mark.browser, pytest.mark.long]

LONG = 3 * PATIENCE  # an app that starts imports the engine
# What a browser says of a server that is not there, and of a map that it asked of the one before.
GONE = ("WebSocket", "_stcore", "ERR_", "not responding", "/maps/head/")


def test_text_head_pins_page_and_display_are_there_again_in_the_same_tab_and_from_the_address(
    tmp_path: Path, new_page: Callable[..., Page], watch: Watch
):
    page, port, log = new_page(), free_port(), tmp_path / "log"
    with serving({"default": load_runner("default", device="cpu")}, settings(("default",))) as url:
        env = {"ATLAS_RUNNER": url, "ATLAS_RUNNER_KEY": KEY}
        with running_app(log, port=port, env=env) as app:
            wait_for_heads(visit(page, app, layer="1", head="1"))
            type_text(page, CAPITAL)
            expect_tokens(page, *CAPITAL_TOKENS)
            click_head(page, 2, 5)
            expect_head(page, "L2H5")
            click_cell(page, 4, 1, 6)
            expect(page.locator(".head-map")).to_have_attribute("data-selected", "4,1")
            choose_display(page, "map", "scores")
            expect(page).to_have_url(re.compile("heads.what=scores"))
            wait_for_rest(page)
            address = page.url
            os.kill(app.pid, signal.SIGKILL)
        with running_app(log, port=port, env=env):
            page.locator("[data-testid=stApp][data-test-connection-state=CONNECTED]").wait_for(timeout=LONG)
            click_head(page, 3, 2)
            expect(page.locator(".head-map canvas")).to_have_attribute("aria-label", re.compile("^L3H2:"), timeout=LONG)
            wait_for_rest(page)
            expect_opened(page, head="L3H2")
            again = new_page()
            again.goto(address)
            again.locator(".head-map[data-painted]").wait_for(timeout=LONG)
            expect_opened(again, head="L2H5")
            again.close()
            page.get_by_role("link", name="Inside a cell", exact=True).click()
            page.locator(".cell-steps[data-painted]").wait_for(timeout=LONG)
        page.close()
    watch.errors[:] = [one for one in watch.errors if not any(word in one for word in GONE)]


def expect_opened(page: Page, head: str) -> None:
    """The text, the pinned cell and the scores, on this head."""
    expect(text_box(page)).to_have_value(CAPITAL)
    expect_tokens(page, *CAPITAL_TOKENS)
    expect_head(page, head)
    expect(page.locator(".head-map")).to_have_attribute("data-selected", "4,1")
    expect(page.get_by_role("button", name="scores ×")).to_be_visible()
