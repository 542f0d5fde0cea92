"""Does a server's memory stay flat while a class is held? A teacher, followers who come and go, sessions beside them.

    python -m benchmarks.class_memory [--minutes 60] [--followers 40] [--sessions 4] [--samples build/class_memory.csv]

The load is moderate, so that an hour fits beside other work. The teacher does something every few seconds, in turns;
each follower's connection is lost about once a minute; sessions of the whole app leave after five minutes, and others
come. The cache of texts reaches its limit (ATLAS_MEMORY) long before the second half, from which the slope is computed.
The pages of the teacher and of a phone are measured too, after garbage collection.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from statistics import linear_regression

import psutil
from playwright.sync_api import Browser, CDPSession, Page, TimeoutError

from benchmarks import _followers, _wanderers
from benchmarks._app import App, running_app
from benchmarks._chromium import chromium
from benchmarks._table import Target, machine, print_table
from benchmarks._teaching import PAINTED, all_there, cell, click_head, go, opened_room, vote
from tests.browser import DESK, Watch

KEPT = "64 MB"
ASLEEP = 60.0  # approximate seconds after which a follower's connection is lost
STAY = 300.0  # seconds that a session beside the class stays
PAUSE = 6.0  # seconds between two actions of the teacher
LOOK = 60.0  # seconds between two samples
FLAT = Target(20, " MB an hour")
COLUMNS = ("minutes", "server MB", "threads", "files", "teacher MB", "teacher nodes", "phone MB", "phone nodes")
Row = tuple[float, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=4)
    parser.add_argument("--followers", type=int, default=40)
    parser.add_argument("--sessions", type=int, default=4, help="of the whole app beside the class")
    parser.add_argument("--samples", type=Path, default=Path("build/class_memory.csv"))
    options = parser.parse_args()
    os.environ["ATLAS_MEMORY"] = KEPT
    watch, rows = Watch(), list[Row]()
    with chromium() as browser:
        page = browser.new_context(viewport=DESK, locale="en-US").new_page()  # without a probe, which keeps what it saw
        with running_app(watch) as app:
            code = opened_room(page, app)
            followers = _followers.started(app.url, code, options.followers, ASLEEP)
            phone = _phone(browser, app, code)
            all_there(page, options.followers + 1)
            for row in _looks(page, phone, app, options):
                rows.append(row)
                _write(options.samples, rows)
            page.locator(".st-key-end_room button").click()
            page.locator(".st-key-end_it button").click()
            page.locator(".st-key-open_room").wait_for()
            lost = sum(one.kind == "lost" for one in _followers.told(followers))
    print(f"{options.followers} followers came back {lost:,} times.")
    _print(rows, options)


def _phone(browser: Browser, app: App, code: str) -> Page:
    page = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).new_page()
    page.goto(f"http://127.0.0.1:{app.port}/join/{code}")
    return page


def _looks(page: Page, phone: Page, app: App, options: argparse.Namespace) -> Iterator[Row]:
    """A row per minute, while the teacher goes on and sessions come and go."""
    server, tabs = psutil.Process(app.process.pid), [one.context.new_cdp_session(one) for one in (page, phone)]
    begun, looks, acts = time.monotonic(), 0, cycle(_acts(page, options.followers))
    sessions = _wanderers.started(app.port, options.sessions, STAY)
    while (passed := time.monotonic() - begun) < options.minutes * 60:
        if passed >= looks * LOOK:
            looks += 1
            heaps = [number for tab in tabs for number in _heap(tab)]
            yield passed / 60, server.memory_info().rss / 1e6, server.num_threads(), server.num_fds(), *heaps
        try:
            next(acts)()
        except TimeoutError as error:  # on a busy machine; continue with the next action
            print(error.message.splitlines()[0], flush=True)
        page.wait_for_timeout(PAUSE * 1000)
        if sessions.poll() is not None:
            _wanderers.took(sessions)
            sessions = _wanderers.started(app.port, options.sessions, STAY)
    sessions.terminate()
    _wanderers.took(sessions)


def _heap(tab: CDPSession) -> tuple[float, float]:
    """MB of used JavaScript heap, and the number of nodes."""
    tab.send("Performance.enable")
    tab.send("HeapProfiler.collectGarbage")
    found = {one["name"]: one["value"] for one in tab.send("Performance.getMetrics")["metrics"]}
    return found["JSHeapUsedSize"] / 1e6, found["Nodes"]


def _acts(page: Page, followers: int) -> list[Callable[[], object]]:
    """The actions of a lesson."""
    slider, film = page.locator(".sampling-bench input[type=range]").first, page.locator(".film .step")
    heads = [lambda number=number: click_head(page, number) for number in range(12)]
    cells = [lambda number=number: page.mouse.move(*cell(page, number)) for number in range(4)]
    return [
        *heads,
        *cells,
        lambda: vote(page, followers),
        lambda: go(page, "Next token", slider),
        *[lambda: slider.press("ArrowRight")] * 4,
        *[lambda: slider.press("ArrowLeft")] * 4,
        lambda: go(page, "Generation film", film),
        *[lambda: _step(page)] * 6,
        lambda: go(page, "Heads", page.locator(PAINTED)),
    ]


def _step(page: Page) -> None:
    """Step one token forward; at the end, go back to the beginning."""
    step, start = page.locator(".film .step"), page.locator(".film .start")
    (step if step.is_enabled() else start).click(timeout=30_000)


def _write(path: Path, rows: list[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *([f"{value:.1f}" for value in row] for row in rows)])


def _print(rows: list[Row], options: argparse.Namespace) -> None:
    half = rows[len(rows) // 2 :]
    title = f"{options.minutes:g} minutes of a class: {options.followers} followers, {options.sessions} sessions"
    told = [(name, *_told(number, name, rows, half)) for number, name in enumerate(COLUMNS) if number]
    print_table(f"{title} · {machine()}", ("", "first", "half", "last", "slope of the second half", "target", ""), told)


def _told(number: int, name: str, rows: list[Row], half: list[Row]) -> tuple[str, ...]:
    at = [f"{row[number]:,.0f}" for row in (rows[0], half[0], rows[-1])]
    slope = 60 * linear_regression([row[0] for row in half], [row[number] for row in half]).slope if half[1:] else 0.0
    target = (str(FLAT), FLAT.verdict(slope)) if name == "server MB" else ("", "")
    return *at, f"{slope:+,.1f} an hour", *target


if __name__ == "__main__":
    main()
