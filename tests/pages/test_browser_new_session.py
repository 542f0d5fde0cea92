"""A server that is started again under an open page: what is clicked next is done, in fragments too."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser import PATIENCE, Watch, free_port, running_app
from tests.pages.test_browser_class_restart import GONE

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.mark.parametrize(
    "address, clicked, then",
    [
        ("zoo?zoo.view=hybrid", ".st-key-zoo-kept [role=radio]:not([aria-checked=true])", "**zoo.kept=blocks*"),
        ("zoo?zoo.view=hybrid", ".st-key-zoo_layer_1 button", "**zoo.softmax=1.*"),
        ("block?block.view=context", ".st-key-context_pair_1 button", "**block.second=*"),
    ],
)
def test_the_next_click_is_done(
    tmp_path: Path, new_page: Callable[..., Page], watch: Watch, address: str, clicked: str, then: str
):
    port, page = free_port(), new_page()
    with running_app(tmp_path / "log", port=port) as server:
        page.goto(f"{server.url}/{address}")
        page.locator(clicked).first.wait_for(timeout=PATIENCE)
        page.locator("[data-test-script-state=notRunning]").wait_for(timeout=PATIENCE)
        page.wait_for_timeout(1000)
        os.kill(server.pid, signal.SIGKILL)
    page.locator(".stApp:not([data-test-connection-state=CONNECTED])").wait_for(timeout=PATIENCE)
    with running_app(tmp_path / "log", port=port):
        page.locator(clicked).first.click(timeout=3 * PATIENCE)
        page.wait_for_url(then, timeout=PATIENCE)
        page.close()
    told = (*GONE, "when disconnected")  # of a figure that grows, which Streamlit asks for once more meanwhile
    watch.errors[:] = [error for error in watch.errors if not any(word in error for word in told)]
