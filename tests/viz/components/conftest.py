"""A component on a separate page, for browser tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import Watch
from tests.viz.components import clock, shim
from viz.components.source import Source


@dataclass
class Sheet:
    """A page that one test after the other draws on: opening a window takes longer than most of them do."""

    browser: Browser
    watch: Watch = field(default_factory=Watch)
    page: Page | None = None

    def blank(self) -> Page:
        if self.page is None:
            context = self.browser.new_context(locale="en-US")
            self.watch.follow(context)
            self.page = context.new_page()
        self.page.mouse.move(0, 0)
        return self.page

    def close(self) -> None:
        if self.page is not None:
            self.page.context.close()
            self.page = None


@pytest.fixture(scope="session")
def _sheet(browser: Browser) -> Iterator[Sheet]:
    made = Sheet(browser)
    yield made
    made.close()


@pytest.fixture
def sheet(_sheet: Sheet) -> Iterator[Page]:
    """A blank page, on which nothing may be reported as an error and which may ask for nothing."""
    page = _sheet.blank()
    _sheet.watch.errors.clear()  # what the last test's document still said
    yield page
    if clock.is_held(page):  # for good
        _sheet.close()
    left = [*_sheet.watch.errors, *_sheet.watch.outside]
    _sheet.watch.outside.clear()
    if left:
        pytest.fail("\n".join(left), pytrace=False)


@pytest.fixture
def mount(sheet: Page) -> Callable[..., Any]:
    """Show a component in a window of this size, once it is painted; returns the page."""

    def show(
        source: Source,
        data: bytes,
        *,
        width: int = 1440,
        height: int = 900,
        theme: Mapping[str, str] = shim.LIGHT,
        style: str = "section{max-width:640px}",
    ) -> Any:
        sheet.set_viewport_size({"width": width, "height": height})
        sheet.goto("about:blank")  # what was there before is gone, its timers and globals too
        sheet.set_content(shim.page((source, data), theme=theme, style=style))
        sheet.wait_for_function("window.ready")
        sheet.wait_for_selector("[data-painted]")
        return sheet

    return show
