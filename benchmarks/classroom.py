"""How long does a class wait? A room of 200 followers, a teacher in a real Chromium, 30 sessions of the app beside it.

    python -m benchmarks.classroom [--followers 200] [--times 10] [--wanderers 30] [--minutes 2]

Followers and sessions speak the protocols without a browser, in processes of their own (_followers.py, _wanderers.py):
30 browsers do not fit beside a server on two cores. What is measured ends when the new data are at a follower, whole
and unpacked; a phone draws them in a frame or two more (page_latency). All of it shares this machine: server, browser,
followers, sessions. Memory is the server's resident set, each half minute of the last part.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median, quantiles

import psutil
from playwright.sync_api import Locator, Page, sync_playwright

from benchmarks import _followers, _wanderers
from benchmarks._app import App, opened_page, running_app, settle
from benchmarks._followers import VOTING, Told
from benchmarks._table import Target, machine, print_table
from pages.classroom.sidebar import AGAIN
from tests.browser import CHROMIUM, FLAGS, Watch

PAUSE = 2.0  # seconds between two things that the teacher does
BESIDE = 5.0  # seconds between two clicks while others wander
PATIENCE = 180_000  # ms, on a machine that does much else
LOOK = 30.0  # seconds between two looks at the memory
STEPS = 4  # of the film: after five tokens the model ends the text
SHOWN, CLICK, SESSION, BACK = Target(300, " ms"), Target(500, " ms"), Target(1500, " ms"), Target(10, " s")
HEAD_MAP, PAINTED = ".head-map canvas", ".head-map[data-painted]"


@dataclass
class Class:
    """The teacher's page, and what he did: a name for each, moments with the kind and key that followers are told."""

    page: Page
    done: dict[str, list[tuple[float, str, str | None]]] = field(
        default_factory=dict[str, list[tuple[float, str, str | None]]]
    )

    def do(self, name: str, kind: str, of: str | None, act: Callable[[], None], pause: float = PAUSE) -> None:
        """Do it now, and wait: what followers are told of ``kind`` meanwhile is its answer."""
        self.page.wait_for_timeout(pause * 1000)
        self.done.setdefault(name, []).append((time.time(), kind, of))
        act()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--followers", type=int, default=200)
    parser.add_argument("--times", type=int, default=10, help="how often the teacher does each thing")
    parser.add_argument("--wanderers", type=int, default=30, help="sessions of the whole app beside the class")
    parser.add_argument("--minutes", type=float, default=2, help="for which they wander and memory is looked at")
    options = parser.parse_args()
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        sys.exit(f"No Chromium on this machine (looked for {', '.join(CHROMIUM)}).")
    watch = Watch()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        with opened_page(browser, watch) as page:
            with running_app(watch) as app:
                app.open(page)
                page.set_default_timeout(PATIENCE)
                page.locator(PAINTED).wait_for()
                page.locator(".st-key-open_room button").click()
                code = page.locator(".atlas-huge").inner_text()
                page.locator(".st-key-hide_code button").click()
                settle(page)
                followers = _followers.started(app.port, code, options.followers)
                _all_there(page, options.followers)
                lesson = Class(page)
                counted = _lesson(lesson, options)
                sessions, memory = _beside(lesson, app, options)
                app.process.kill()
                app.process.wait()
            with running_app(watch, port=app.port) as app:
                page.locator(".st-key-room_box").get_by_text(AGAIN).wait_for()  # all else stands there from before
                _all_there(page, options.followers)
                settle(page)
                page.locator(".st-key-end_room button").click()
                page.locator(".st-key-open_room").wait_for()
                heard = _followers.told(followers)
        browser.close()
    _print(options, lesson, heard, counted, sessions, memory)


def _all_there(page: Page, count: int) -> None:
    page.locator(f".room-link[data-there='{count}']").wait_for(timeout=120_000)


# -- what the teacher does --------------------------------------------------------------------------------------------


def _lesson(lesson: Class, options: argparse.Namespace) -> int:
    """Every kind of thing, as often as asked for; then a vote, and how many votes were counted."""
    page = lesson.page
    for number in range(options.times):
        lesson.do("another head → its map", "figure", "head_map", lambda number=number: _click_head(page, number))
    for number in range(options.times):
        lesson.do("pointing at a cell", "point", "head_map", lambda number=number: _point(page, number))
    slider, link = page.locator(".sampling-bench input[type=range]").first, page.locator(".st-key-navigation a")
    _go(page, "Next token", slider)  # once before, for its first visit imports it
    _go(page, "Heads", page.locator(PAINTED))
    for number in range(options.times + options.times % 2):  # there and back
        name, title = (("Next token", "What comes next?"), ("Heads", "Who looks at whom?"))[number % 2]
        lesson.do("another page → its title", "stage", title, link.get_by_text(name, exact=True).click)
    page.locator(PAINTED).wait_for()
    settle(page)
    counted = _vote(lesson, options.followers)
    _go(page, "Next token", slider)
    for number in range(options.times):
        step = ("ArrowRight", "ArrowLeft")[number % 2]
        lesson.do("a slider of Next token", "point", None, lambda step=step: slider.press(step))
    _go(page, "Generation film", page.locator(".film .step"))
    for _ in range(min(options.times, STEPS)):
        lesson.do("a step of the film", "point", "film", page.locator(".film .step").click)
    page.wait_for_timeout(PAUSE * 1000)
    _go(page, "Heads", page.locator(PAINTED))
    return counted


def _go(page: Page, name: str, there: Locator) -> None:
    """To another page, until this is there and all is at rest."""
    page.locator(".st-key-navigation a").get_by_text(name, exact=True).click()
    there.wait_for()
    settle(page)


def _click_head(page: Page, number: int) -> None:
    box = page.locator(".head-grid canvas").bounding_box()
    assert box
    share = 0.25 + 0.5 * (number % 2)
    page.mouse.click(box["x"] + share * box["width"], box["y"] + (0.3 + 0.05 * (number % 8)) * box["height"])


def _point(page: Page, number: int) -> None:
    box = page.locator(HEAD_MAP).first.bounding_box()
    assert box
    page.mouse.move(box["x"] + 150 + 60 * (number % 2), box["y"] + 250)


def _vote(lesson: Class, followers: int) -> int:
    page = lesson.page
    page.locator(".st-key-ask_class button").first.click()
    page.locator(".st-key-ask_ablate button").click()
    page.locator(".class-answered").wait_for()
    deadline = time.monotonic() + VOTING + 5
    while time.monotonic() < deadline and page.locator(".class-answered").inner_text() != str(followers):
        page.wait_for_timeout(50)
    counted = int(page.locator(".class-answered").inner_text())
    page.locator(".st-key-reveal button").click()
    page.locator(".st-key-drop_poll button").click()
    page.locator(PAINTED).wait_for()
    settle(page)
    return counted


# -- others beside the class ------------------------------------------------------------------------------------------


def _beside(lesson: Class, app: App, options: argparse.Namespace) -> tuple[list[float], list[tuple[float, float]]]:
    """What every action of a session took, and minutes and MB of memory, while the teacher goes on."""
    server = psutil.Process(app.process.pid)
    sessions = _wanderers.started(app.port, options.wanderers, options.minutes * 60)
    begun, memory, number = time.monotonic(), list[tuple[float, float]](), 0
    while (passed := time.monotonic() - begun) < options.minutes * 60:
        lesson.do(
            "another head → its map, sessions beside it", "figure", "head_map",
            lambda number=number: _click_head(lesson.page, number), BESIDE,
        )  # fmt: skip  # one line of what and one of how
        number += 1
        if passed >= len(memory) * LOOK:
            memory.append((passed / 60, server.memory_info().rss / 1e6))
    return _wanderers.took(sessions), memory


# -- what came of it --------------------------------------------------------------------------------------------------


def _print(options: argparse.Namespace, lesson: Class, heard: list[Told], counted: int, sessions: list[float],
           memory: list[tuple[float, float]]) -> None:  # fmt: skip  # one line of what and one of how
    rows: list[tuple[str, ...]] = []
    for name, done in lesson.done.items():
        found = [wait * 1000 for at, kind, of in done for wait in _followers.waits(at, PAUSE, heard, kind, of)]
        expected = len(done) * options.followers
        target = CLICK if "figure" in {kind for _, kind, _ in done} else SHOWN
        reached = f"{len(found):,} of {expected:,}"
        rows.append((name, reached, f"{median(found):.0f} ms", *_p95(found, target)))
    seconds = [took * 1000 for took in sessions]
    name = f"an action of {options.wanderers} sessions, one per {_wanderers.PACE:g} s each"
    rows.append((name, f"{len(seconds):,}", f"{median(seconds):.0f} ms", *_p95(seconds, SESSION)))
    rows.append((f"votes counted, sent within {VOTING:g} s", f"{counted} of {options.followers}", "", "", "all", ""))
    here = sorted(one.at for one in heard if one.kind == "here")[-options.followers :]
    last = here[-1] - here[0]
    about = "server killed and started: the last follower after the first, who comes with the teacher"
    rows.append((about, f"{len(here)}", "", f"{last:.1f} s", str(BACK), BACK.verdict(last)))
    head = ("measured at followers", "reached", "median", "95 %", "target", "")
    print_table(f"A room of {options.followers} followers · {machine()}", head, rows)
    used = [f"{minutes:.1f} min: {mb:.0f} MB" for minutes, mb in memory]
    print(
        f"The server's memory beside {options.wanderers} sessions: {', '.join(used)}; {_slope(memory):+.0f} MB an hour"
    )
    print("from its second half.")
    if counted != options.followers:
        sys.exit("Not every vote was counted.")


def _p95(values: list[float], target: Target) -> tuple[str, str, str]:
    most = quantiles(values, n=20)[-1]
    return f"{most:.0f} ms", str(target), target.verdict(most)


def _slope(memory: list[tuple[float, float]]) -> float:
    """Least squares through the second half: the first fills what is kept."""
    half = memory[len(memory) // 2 :]
    middle, level = sum(at for at, _ in half) / len(half), sum(mb for _, mb in half) / len(half)
    spread = sum((at - middle) ** 2 for at, _ in half)
    return 60 * sum((at - middle) * (mb - level) for at, mb in half) / spread if spread else 0.0


if __name__ == "__main__":
    main()
