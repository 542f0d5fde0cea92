"""How long does the first visit to every view take, once the engine is up? The app in a fresh process, a real Chromium.

    python -m benchmarks.first_visits [--page block]

The time runs from the click on a page, a view or a part of one to the end of the frame in which all of it is drawn,
including charts. Each is visited for the first time in this server and in this tab, so it includes imports at first use
and computations that are not cached yet. The tab has been idle for a while, so that the charts' script is imported
(viz/components/theme_switch/chart_script.js). The table also lists the CPU time of the server and of the page's main
thread, which other work on the machine hardly affects.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator

import psutil
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page

from benchmarks._app import App, opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks._table import Target, machine, print_table
from benchmarks.steps_frames import working
from benchmarks.understand_latency import ARM, START
from tests.browser import Watch

VISIT = Target(1000, " ms")
PAGES = ("block", "steps", "positions", "sharing", "next_token", "zoo", "families", "kv_cache")
PARTS = {  # choices between parts of a view; other rows of segments are settings
    "block-tokens", "block-streams", "block-ffn", "block-experts", "block-blocks", "steps-source", "steps-softmax",
    "steps-others", "steps-otherwise", "steps-batch", "positions-sine", "zoo-linear", "zoo-how", "zoo-blocks",
}  # fmt: skip  # a few lines of names
Row = list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", default="", choices=("", *PAGES), help="views of this page alone")
    options = parser.parse_args()
    watch = Watch()
    with chromium() as browser:
        with running_app(watch) as app, opened_page(browser, watch) as page:
            app.open(page)
            page.locator(".head-grid[data-painted]").wait_for(timeout=START)
            page.locator(".theme-switch[data-charts]").wait_for(state="attached", timeout=START)
            settle(page)
            timed = _timed(app, page)
            rows = [row for name in PAGES if options.page in name for row in _visits(page, name, timed)]
        version = browser.version
    head = ["first visit to", "all drawn", "server's own", "main thread's own", "target", ""]
    print_table("First visits", head, rows)
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{machine()}, Chromium {version}, 1440×900, load {load}.")
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")


def _timed(app: App, page: Page) -> Callable[[str, Locator], Row]:
    """A function that clicks once and returns a row."""
    server, worked = psutil.Process(app.process.pid), working(page)

    def click(what: str, there: Locator) -> Row:
        settle(page)
        before, drawn = sum(server.cpu_times()[:2]), worked()
        page.evaluate(ARM, ["", False])
        try:
            there.click()
            took = float(page.evaluate("answer"))
        except PlaywrightError as error:
            print(f"  {what}: {error.message}", file=sys.stderr)
            return [what, *["–"] * 3, str(VISIT), "NO ANSWER"]
        own = 1000 * (sum(server.cpu_times()[:2]) - before), worked() - drawn
        print(f"  {what}: {took:.0f} ms, own {own[0]:.0f} and {own[1]:.0f}", file=sys.stderr)
        return [what, f"{took:.0f} ms", *(f"{one:.0f} ms" for one in own), str(VISIT), VISIT.verdict(took)]

    return click


def _visits(page: Page, name: str, timed: Callable[[str, Locator], Row]) -> Iterator[Row]:
    """Visit the page, each of its views, the view that it opens with last, and the other parts of each."""
    yield timed(name, page.locator(f".st-key-navigation a[href*='{name}']").first)
    views = page.locator(f".st-key-{name}-view [role=radio]")
    seen = set[str]()
    for place in [*range(1, views.count()), 0]:
        called = name
        if views.count():
            called = f"{name}: {views.nth(place).inner_text()}"
            if place:
                yield timed(called, views.nth(place))
            else:
                views.nth(0).click()
        settle(page)
        for key in sorted(PARTS - seen):
            parts = page.locator(f".st-key-{key} [role=radio]")
            for part in range(1, parts.count()):
                seen.add(key)
                yield timed(f"{called}, {parts.nth(part).inner_text()}", parts.nth(part))


if __name__ == "__main__":
    main()
