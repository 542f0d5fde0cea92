"""How long does a class wait? A room of 500 followers, a teacher in a real Chromium, 40 sessions of the app beside it.

    python -m benchmarks.classroom [--followers 500] [--times 10] [--wanderers 40] [--minutes 2] [--only class|attacks]

Followers and sessions speak the protocols without a browser, in processes of their own (_followers.py, _wanderers.py),
since 30 browsers do not fit beside a server on two cores. A time ends when the new data has reached a follower,
complete and decompressed; a phone draws it in another frame or two (page_latency). Server, browser, followers and
sessions share this machine. Memory is the server's resident set, sampled every half minute of the last part. Then the
server is killed with a question open, and restarted: it keeps rooms in a folder. Finally, a class of 30 follows a
hosted server (docs/hosting.md) while it is attacked from another address, in one way after another (_attacks.py).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

import psutil
from playwright.sync_api import Page, ViewportSize

from benchmarks import _attacks, _followers, _wanderers
from benchmarks._app import App, opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks._followers import VOTING, Told, mark_of
from benchmarks._table import Target, machine, print_table
from benchmarks._teaching import (
    PAINTED,
    PATIENCE,
    all_there,
    ask,
    cell,
    click_head,
    go,
    opened_room,
    reveal,
    vote,
)  # fmt: skip  # what the teacher does
from tests.browser import Watch
from tests.hosting.visitors.hosted import Hosted, hosted_app
from tests.hosting.visitors.phones import REEL

PAUSE = 2.0  # seconds between two actions of the teacher
BESIDE = 5.0  # seconds between two clicks while others wander
LOOK = 30.0  # seconds between two samples of the memory
DRAGGED = 40  # positions through which a slider is dragged
STEPS = 4  # of the film: after five tokens the model ends the text
QUIET = "before"  # without any attack
LARGER = Target(1.2, "")  # times the memory before
WINDOW: ViewportSize = {"width": 1440, "height": 900}
SHOWN, CLICK, SESSION, BACK = Target(300, " ms"), Target(500, " ms"), Target(1500, " ms"), Target(10, " s")
PAGES = (("Next token", "What comes next?", "sampling_bench"), ("Heads", "Which token looks at which?", "head_map"))
Sought = str | frozenset[str] | None  # what a follower has to receive: this, one of these, anything of its kind
# records the events of the teacher's figures, each with the time of its first input in milliseconds
HAND = """() => { window.hand = []
  let since = null
  addEventListener("input", () => (since ??= Date.now()), true)
  addEventListener("atlas-pointed", ({ detail }) => {
    window.hand.push([since ?? Date.now(), JSON.stringify(detail)])
    since = null
  }) }"""


@dataclass(frozen=True)
class Back:
    """When the server was killed, and how many answers the open question had before and after."""

    killed: float
    before: int
    after: int


@dataclass
class Class:
    """The teacher's page, and the log of actions: a name, with times and the kind and key of what followers receive."""

    page: Page
    done: dict[str, list[tuple[float, str, Sought]]] = field(default_factory=dict[str, list[tuple[float, str, Sought]]])

    def do(self, name: str, kind: str, of: Sought, act: Callable[[], None], pause: float = PAUSE) -> None:
        """Perform the action now, and wait; messages of ``kind`` to followers meanwhile are its result."""
        self.page.wait_for_timeout(pause * 1000)
        self.did(name, time.time(), kind, of)
        act()

    def did(self, name: str, at: float, kind: str, of: Sought) -> None:
        """Log an action at this time, in seconds since the epoch."""
        self.done.setdefault(name, []).append((at, kind, of))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--followers", type=int, default=500)
    parser.add_argument("--times", type=int, default=10, help="how often the teacher does each thing")
    parser.add_argument("--wanderers", type=int, default=40, help="sessions of the whole app beside the class")
    parser.add_argument("--minutes", type=float, default=2, help="for which they wander and memory is looked at")
    parser.add_argument("--only", choices=("class", "attacks"), help="one part alone")
    options = parser.parse_args()
    if options.only != "attacks":
        _class(options)
    if options.only != "class":
        _attacks_on(30, options.times)


def _class(options: argparse.Namespace) -> None:
    watch = Watch()
    with chromium() as browser, tempfile.TemporaryDirectory() as state, opened_page(browser, watch) as page:
        with running_app(watch, ATLAS_STATE=state) as app:
            code = opened_room(page, app)
            followers = _followers.started(app.url, code, options.followers)
            all_there(page, options.followers)
            lesson = Class(page)
            counted = _lesson(lesson, options)
            sessions, memory = _beside(lesson, app, options)
            settle(page)
            open_answers = ask(page, options.followers)
            page.wait_for_timeout(PAUSE * 1000)
            born = page.locator(".room-link").first.get_attribute("data-born")
            killed = time.time()
            app.process.kill()
            app.process.wait()
        with running_app(watch, port=app.port, ATLAS_STATE=state):
            page.locator(f".room-link[data-there='{options.followers}']:not([data-born='{born}'])").wait_for()
            settle(page)
            found = int(page.locator(".class-answered").inner_text())
            reveal(page)
            page.locator(".st-key-end_room button").click()
            page.locator(".st-key-end_it button").click()
            page.locator(".st-key-open_room").wait_for()
            heard = _followers.told(followers)
    _print(options, lesson, heard, counted, sessions, memory, Back(killed, open_answers, found))


# -- what the teacher does --------------------------------------------------------------------------------------------


def _lesson(lesson: Class, options: argparse.Namespace) -> int:
    """Every kind of action, as often as requested; then a vote. Returns how many votes were counted."""
    page = lesson.page
    for number in range(options.times):
        lesson.do("another head → its map", "figure", "head_map", lambda number=number: click_head(page, number))
    for number in range(options.times):
        place = cell(page, number)
        lesson.do("pointing at a cell", "point", "head_map", lambda place=place: page.mouse.move(*place))
    slider, link = page.locator(".sampling-bench input[type=range]").first, page.locator(".st-key-navigation a")
    go(page, "Next token", slider)  # once before, since the first visit imports it
    go(page, "Heads", page.locator(PAINTED))
    for number in range(options.times + options.times % 2):  # there and back
        name, title, picture = PAGES[number % 2]
        lesson.do("another page → its title", "stage", title, link.get_by_text(name, exact=True).click)
        at, *_ = lesson.done["another page → its title"][-1]
        lesson.did("another page → its picture", at, "figure", picture)
    page.locator(PAINTED).wait_for()
    settle(page)
    counted = vote(page, options.followers)
    go(page, "Next token", slider)
    for number in range(options.times):
        step = ("ArrowRight", "ArrowLeft")[number % 2]
        lesson.do("a slider of Next token", "point", None, lambda step=step: slider.press(step))
    for at, said in _dragged(page):
        lesson.did("a slider that is dragged, each place of it", at, "hand", said)
    go(page, "Generation film", page.locator(".film .step"))
    for _ in range(min(options.times, STEPS)):
        lesson.do("a step of the film", "point", "film", page.locator(".film .step").click)
    page.wait_for_timeout(PAUSE * 1000)
    for at, frame in _played(page):
        lesson.did("a frame of the film while it plays", at, "frame", frame)
    go(page, "Heads", page.locator(PAINTED))
    return counted


def _dragged(page: Page) -> list[tuple[float, frozenset[str]]]:
    """Drag a slider for two seconds: the times of its positions, each with the marks of that position or a later one.

    Of positions in quick succession, a follower only receives the newest.
    """
    page.evaluate(HAND)
    box = page.locator(".sampling-bench input[type=range]").first.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.3 * box["width"], middle)
    page.mouse.down()
    for step in range(1, DRAGGED + 1):
        page.mouse.move(box["x"] + (0.3 + 0.4 * step / DRAGGED) * box["width"], middle)
        page.wait_for_timeout(2000 / DRAGGED)
    page.mouse.up()
    page.wait_for_timeout(PAUSE * 1000)
    said: list[tuple[float, str]] = page.evaluate("window.hand")
    marks = [mark_of(json.loads(at)) for _, at in said]
    return [(at / 1000, frozenset(marks[number:])) for number, (at, _) in enumerate(said)]


def _played(page: Page) -> list[tuple[float, frozenset[str]]]:
    """Play the film once: when the teacher's page showed each frame, with the marks of that frame or a later one."""
    film = page.locator(".film")
    film.locator(".start").click()
    settle(page)
    page.evaluate(REEL)
    film.locator(".play").click()
    page.locator(".film[data-playing=true]").wait_for()
    page.locator(".film[data-playing=false]").wait_for()
    page.wait_for_timeout(PAUSE * 1000)
    shown: list[tuple[str, float]] = page.evaluate("clearTimeout(window.filming) || window.reel")
    frames = [frame for frame, _ in shown]
    return [(at / 1000, frozenset(frames[number:])) for number, (_, at) in enumerate(shown) if number]


# -- others beside the class ------------------------------------------------------------------------------------------


def _beside(lesson: Class, app: App, options: argparse.Namespace) -> tuple[list[float], list[tuple[float, float]]]:
    """The duration of every action of a session, and minutes and MB of memory, while the teacher goes on."""
    server = psutil.Process(app.process.pid)
    sessions = _wanderers.started(app.port, options.wanderers, options.minutes * 60)
    begun, memory, number = time.monotonic(), list[tuple[float, float]](), 0
    while (passed := time.monotonic() - begun) < options.minutes * 60:
        lesson.do(
            "another head → its map, sessions beside it", "figure", "head_map",
            lambda number=number: click_head(lesson.page, number), BESIDE,
        )  # fmt: skip  # one line of what and one of how
        number += 1
        if passed >= len(memory) * LOOK:
            memory.append((passed / 60, server.memory_info().rss / 1e6))
    return _wanderers.took(sessions), memory


# -- what came of it --------------------------------------------------------------------------------------------------


def _print(options: argparse.Namespace, lesson: Class, heard: list[Told], counted: int, sessions: list[float],
           memory: list[tuple[float, float]], back: Back) -> None:  # fmt: skip  # one line of what and one of how
    rows: list[tuple[str, ...]] = []
    for name, done in lesson.done.items():
        found = [wait * 1000 for at, kind, of in done for wait in _followers.waits(at, PAUSE, heard, kind, of)]
        expected = len(done) * options.followers
        # whoever did not receive it within the pause received it later
        all_of = [*found, *[PAUSE * 1000] * (expected - len(found))]
        target = CLICK if "figure" in {kind for _, kind, _ in done} else SHOWN
        reached = f"{len(found):,} of {expected:,}"
        rows.append((name, reached, f"{median(all_of):.0f} ms", *_p95(all_of, target)))
    seconds = [took * 1000 for took in sessions]
    name = f"an action of {options.wanderers} sessions, one per {_wanderers.PACE:g} s each"
    rows.append((name, f"{len(seconds):,}", f"{median(seconds):.0f} ms", *_p95(seconds, SESSION)))
    rows.append((f"votes counted, sent within {VOTING:g} s", f"{counted} of {options.followers}", "", "", "all", ""))
    up = min(one.at for one in heard if one.kind == "here" and one.at > back.killed)
    voted = {one.who: one.at for one in reversed(heard) if one.kind == "voted" and one.at > back.killed}
    last = max(voted.values(), default=float("inf")) - up
    about = "server killed with a question open, and started again: the last follower with its answer after the first"
    rows.append((about, f"{len(voted)} of {back.before}", "", f"{last:.1f} s", str(BACK), BACK.verdict(last)))
    kept = "all", "ok" if back.after == back.before == options.followers else "NOT ok"
    rows.append(("its answers on the teacher's page then", f"{back.after} of {options.followers}", "", "", *kept))
    head = ("measured at followers", "reached", "median", "95 %", "target", "")
    print_table(f"A room of {options.followers} followers · {machine()}", head, rows)
    used = [f"{minutes:.1f} min: {mb:.0f} MB" for minutes, mb in memory]
    print(
        f"The server's memory beside {options.wanderers} sessions: {', '.join(used)}; {_slope(memory):+.0f} MB an hour"
    )
    print("from its second half.")
    if counted != options.followers:
        sys.exit("Not every vote was counted.")


# -- while somebody attacks -------------------------------------------------------------------------------------------


def _attacks_on(count: int, times: int) -> None:
    """The same class under each attack, and before all of them."""
    rows, answered = list[tuple[str, ...]](), 0
    with chromium() as browser, tempfile.TemporaryDirectory() as place:
        page = browser.new_context(ignore_https_errors=True, locale="en-US", viewport=WINDOW).new_page()
        page.set_default_timeout(PATIENCE)
        with hosted_app(Path(place), sessions=60, server={"state": place}) as hosted:
            code = _signed_in(page, hosted)
            followers = _followers.started(hosted.url, code, count)
            all_there(page, count)
            server, lesson = psutil.Process(hosted.serving.pid), Class(page)
            memory = {QUIET: _pointed(lesson, QUIET, times, server)}
            for name in _attacks.ATTACKS:
                settle(page)
                if name.startswith("votes"):
                    ask(page, count)  # includes stuffed votes: the projector's own count is not used
                attack = _attacks.started(name, hosted.url, code, 2 * PAUSE + times * PAUSE + 2)
                page.wait_for_timeout(2 * PAUSE * 1000)
                if name.startswith("votes"):
                    answered = int(page.locator(".class-answered").inner_text())
                    reveal(page)
                memory[name] = _pointed(lesson, name, times, server)
                attack.wait(60)
            page.locator(".st-key-end_room button").click()
            page.locator(".st-key-end_it button").click()
            page.locator(".st-key-open_room").wait_for()
            heard = _followers.told(followers)
    for name, done in lesson.done.items():
        found = [wait * 1000 for at, kind, of in done for wait in _followers.waits(at, PAUSE, heard, kind, of)]
        all_of = [*found, *[PAUSE * 1000] * (len(done) * count - len(found))]
        middle, share = median(all_of), memory[name] / memory[QUIET]
        verdict = "ok" if "ok" == SHOWN.verdict(middle) == LARGER.verdict(share) else "NOT ok"
        reached = f"{len(found):,} of {len(done) * count:,}"
        rows.append((name, reached, f"{middle:.0f} ms", str(SHOWN), f"{share:.2f}", str(LARGER), verdict))
    head = ("a class of 30 is pointed at a cell", "reached", "median", "target", "memory / before", "target", "")
    print_table(f"Under attack from another address · {machine()}", head, rows)
    print(f"Answers counted while votes were stuffed: {answered} of {count} phones; one address may have 40.")


def _signed_in(page: Page, hosted: Hosted) -> str:
    """The teacher's page on Heads, and the code of the room, which is no longer shown."""
    page.goto(f"{hosted.url}/?lang=en")
    page.locator(".st-key-visitors_foot").get_by_role("button", name="For teachers: sign in").click()
    page.locator(".st-key-open_room button").click()
    code = page.locator(".atlas-huge").inner_text()
    page.locator(".st-key-hide_code button").click()
    page.locator(PAINTED).wait_for()
    settle(page)
    return code


def _pointed(lesson: Class, name: str, times: int, server: psutil.Process) -> float:
    """The teacher points at cells; returns the most memory meanwhile, in MB."""
    most = 0.0
    lesson.page.mouse.move(5, 5)  # otherwise the first cell may be the last one of before
    for number in range(times):
        place = cell(lesson.page, number)
        lesson.do(name, "point", "head_map", lambda place=place: lesson.page.mouse.move(*place))
        most = max(most, server.memory_info().rss / 1e6)
    return most


def _p95(values: list[float], target: Target) -> tuple[str, str, str]:
    most = quantiles(values, n=20)[-1]
    return f"{most:.0f} ms", str(target), target.verdict(most)


def _slope(memory: list[tuple[float, float]]) -> float:
    """Least-squares slope over the second half; in the first half, caches fill."""
    half = memory[len(memory) // 2 :]
    middle, level = sum(at for at, _ in half) / len(half), sum(mb for _, mb in half) / len(half)
    spread = sum((at - middle) ** 2 for at, _ in half)
    return 60 * sum((at - middle) * (mb - level) for at, mb in half) / spread if spread else 0.0


if __name__ == "__main__":
    main()
