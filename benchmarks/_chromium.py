"""The machine's own Chromium, for scripts that measure what it draws."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.browser import CHROMIUM, FLAGS


@contextmanager
def chromium() -> Generator[Browser]:
    """A headless browser, closed at the end of the block. Without one, ends the program with a message."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        sys.exit(f"No Chromium on this machine (looked for {', '.join(CHROMIUM)}).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
