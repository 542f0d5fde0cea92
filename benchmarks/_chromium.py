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
    """A browser without a window, ended on leaving. Ends the program with a sentence where there is none."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        sys.exit(f"No Chromium on this machine (looked for {', '.join(CHROMIUM)}).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
