"""A seeded random walk over the pages in a real browser: every step is checked, and its URL opened again."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Error, Page
from playwright.sync_api import TimeoutError as Late

from pages.entries import ENTRIES
from tests.browser import PATIENCE, Server, Watch, as_new
from tests.walk.invariants import broken
from tests.walk.steps import Step, take_step
from ui.state import text_in_url

SCRIPT = Path(__file__).with_name("walk.js")
SIZES = {"desk": (1440, 900), "phone": (390, 844)}
TITLE, FIRST = ".atlas-title", 3 * PATIENCE  # the first visit of all loads the engine
AT_WORK = 12_000  # ms to wait for work that goes on while it is looked at; then it is walked over
FRAMES = "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done))))"
AT_REST = """patience => {
    if (!window.walk) return false
    window.waiting ??= performance.now()
    const long = performance.now() - window.waiting > patience
    const seen = () => walk.ticking() || walk.playing() || walk.working() && walk.atRest()
    const there = walk.atRest() && !walk.working() || long && seen()
    if (there) window.waiting = undefined
    return there
}"""

# A script that gives another browser the reader's colours, and the projector, which a tab keeps.
KEPT = """() => `Object.assign(localStorage, ${JSON.stringify(localStorage)});
    Object.assign(sessionStorage, ${JSON.stringify({ "atlas-projector": sessionStorage["atlas-projector"] })})`"""
# What an address does not hold. Of each: the widget or component, and the part of its lines that may differ.
NOT_HELD = (
    (re.compile(""), re.compile(r"\d[\d.]* (s|ms|秒|毫秒)\b.*")),
    (re.compile("^film_width$"), re.compile("value: .*")),  # how many beams a search would have
    (re.compile("^film_typed$"), re.compile("value: .*")),  # what was typed and is no token
    (
        re.compile(r"^$"),
        re.compile(r"[\d.]+ [KMGT]?B free memory|空闲 [\d.]+ [KMGT]?B"),
    ),  # of a model that cannot be loaded
)

# Its times, and with them the ticks of its axes, how far it came, and where its lines cross.
MEASURED = re.compile(r"^(race|cost_(run|words|seconds|bytes))")
# What a teacher shows a room instead of the page: in no address.
ASKED = ".st-key-class_code, .st-key-class_poll, .st-key-class_first"


class Stumbled(AssertionError):
    """Something did not hold; the message says what, after which step, and how to get there again."""


@dataclass
class Walk:
    """One reader in one browser. ``say`` hears every step; ``another`` knows nothing but the addresses it is given."""

    browser: BrowserContext
    another: BrowserContext
    server: Server
    seed: int
    language: str = "en"
    size: str = "desk"
    anew: int = 3  # a fresh browser opens the address every so many steps, which costs as much as several
    say: Callable[[str], None] = lambda _line: None
    steps: list[str] = field(default_factory=list[str])
    watch: Watch = field(default_factory=Watch)
    logged: int = 0  # bytes of the server's log that were there before
    stopped: set[str] = field(default_factory=set[str])  # pages whose work was stopped half-way, which no address says

    def run(self, count: int) -> None:
        """Walk so many steps; every few of them, and at the end, the address is opened in a fresh browser."""
        rng = random.Random(f"{self.seed} {self.language} {self.size}")
        self.logged = len(self.server.log.read_bytes())
        with self._page(self.browser) as page:
            entry = rng.choice(ENTRIES)
            asked = "" if self.language == "en" else f"?lang={self.language}"
            page.goto(f"{self.server.url}/{entry.address}{asked}")
            page.locator(TITLE).wait_for(timeout=FIRST)
            self._done(page, Step(f"open /{entry.address}"))
            for number in range(1, count + 1):
                self._done(page, self._step(page, rng))
                if number % self.anew == 0 or number == count:
                    self._open_anew(page)

    @contextmanager
    def _page(self, browser: BrowserContext) -> Generator[Page]:
        leave = self.watch.follow(browser)
        try:
            with as_new(browser) as page:
                width, height = SIZES[self.size]
                page.set_viewport_size({"width": width, "height": height})
                page.add_init_script(path=SCRIPT)
                page.set_default_timeout(PATIENCE)
                yield page
        finally:
            leave()

    def _step(self, page: Page, rng: random.Random) -> Step:
        try:
            return take_step(page, rng)
        except (Error, AssertionError) as error:
            self._stumble(page, [f"the step failed: {error}"])
            raise

    def _done(self, page: Page, step: Step) -> None:
        self.steps.append(step.words)
        self.say(f"{len(self.steps) - 1:4d}  {step.words}")
        if "_stop '" in step.words:
            self.stopped.add(urlsplit(page.url).path)
        problems = broken(page, step) if self._rest(page) else []
        problems += [*self.watch.errors, *(f"asked outside: {url}" for url in self.watch.outside)]
        if problems or self._logged():
            self._stumble(page, [*problems, *self._logged()])

    def _logged(self) -> list[str]:
        """The end of the server's log, where it has a traceback."""
        log = self.server.log.read_bytes()[self.logged :].decode(errors="replace")
        return [f"the server's log:\n{log[-3000:]}"] if "Traceback (most recent call last)" in log else []

    def _rest(self, page: Page) -> bool:
        """Wait until the page is at rest; False where work goes on that is looked at meanwhile, such as a race."""
        with suppress(Error):  # which a page that is loaded anew raises, and where a browser with much to do asks late
            page.evaluate(FRAMES)
        try:
            page.wait_for_function(AT_REST, arg=AT_WORK, timeout=2 * PATIENCE, polling=60)
        except Late:
            lacks = page.evaluate("[...walk.lacking(), ...(walk.working() ? ['no work'] : [])]")
            self._stumble(page, [f"the page does not come to rest, it lacks {lacks}", *self._logged()])
        return page.evaluate("walk.atRest() && !walk.working()")

    def _open_anew(self, page: Page) -> None:
        """Another browser that knows nothing but the address, and how its reader likes to look, shows the same."""
        self._close_menu(page)
        if not self._rest(page) or page.locator(ASKED).count() or self._too_long(page):
            return
        if urlsplit(page.url).path in self.stopped:
            return
        with self._page(self.another) as other:
            other.add_init_script(page.evaluate(KEPT))
            other.goto(page.url)
            if not self._rest(other):
                return
            mine, theirs = _lines(page), _lines(other)
        if mine != theirs:
            lost = [*(Counter(mine) - Counter(theirs)).elements()][:12]
            found = [*(Counter(theirs) - Counter(mine)).elements()][:12]
            self._stumble(
                page, [f"a fresh browser shows something else at {page.url}\n  here:  {lost}\n  there: {found}"]
            )

    def _too_long(self, page: Page) -> bool:
        """Whether the page says that its text does not fit into the address."""
        box = page.locator(".st-key-text_box textarea")
        return bool(box.count()) and not text_in_url.parts_of(box.input_value())

    def _close_menu(self, page: Page) -> None:
        page.keyboard.press("Escape")
        page.mouse.move(1, 1)
        self._rest(page)

    def _stumble(self, page: Page, problems: list[str]) -> None:
        again = f"make walk SEED={self.seed} STEPS={len(self.steps) - 1} LANGUAGE={self.language} SIZE={self.size}"
        again += f" ANEW={self.anew}"
        path = "\n".join(f"{number:4d}  {words}" for number, words in enumerate(self.steps))
        raise Stumbled("\n".join([*problems, f"at {page.url}", f"again: {again}", path]))


def _lines(page: Page) -> list[tuple[str, str]]:
    page.mouse.move(1, 1)
    lines = [(where, what) for where, what in page.evaluate("walk.snapshot()")]
    return [(where, _held(where, what)) for where, what in lines if not MEASURED.search(where)]


def _held(where: str, what: str) -> str:
    for place, part in NOT_HELD:
        if place.search(where):
            what = part.sub("…", what)
    return what
