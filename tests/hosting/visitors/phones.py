"""Phones of a class in real browsers: whether and how soon each shows the teacher's page, and its answers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import FLAGS, PATIENCE, Watch, find_chromium
from tests.pages.test_browser_class import PHONE
from tests.pages.visiting import eventually

PROCESSES = 2
LOCALE = {"en": "en-GB", "zh": "zh-CN"}

# what its data attributes tell of each figure that is painted, by the figure's key; on a phone, on the teacher's page
SHOWN = r"""() => {
  const within = (node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]
  const all = (root) => [...root.querySelectorAll("*")].flatMap(within)
  const above = (node) => node.parentElement ?? node.getRootNode().host
  const name = (node) => node.dataset.key ?? /(?:^| )st-key-(\S+)/.exec(node.className?.baseVal ?? node.className)?.[1]
  const named = (node) => node.matches(".figure[data-key], [class*=st-key-]")
  const key = (node) => (named(node) ? name(node) : above(node) && key(above(node)))
  const painted = all(document).filter((node) => node.dataset?.painted)
  const shown = ({ follows, ...said }) => said // but for that it follows
  return Object.fromEntries(painted.map((node) => [key(node), shown(node.dataset)]))
}"""
# of how a figure is drawn, and of what its own reader does with it
OWN = {"painted", "geometry", "theme", "panning", "waiting", "playing", "stepping", "hovered"}
TITLE = {"phone": "main section:not(.vote) > h2", "teacher": ".atlas-title"}
TEXT = "main section:not(.vote) > .text"

# when a phone showed this first: an attribute of a node of the page or of a figure, or, without a name, its words
SEEN = """([selector, name, wanted, fresh, patience]) => { window.seen = new Promise((done, refuse) => {
  const roots = () => [document, ...[...document.querySelectorAll(".figure > div")].map((host) => host.shadowRoot)]
  const find = () => roots().map((root) => root?.querySelector(selector)).find(Boolean)
  const value = () => (name ? find()?.dataset[name] : find()?.textContent)
  const before = fresh ? value() : undefined
  const right = (now) => wanted === null || now === wanted || (!name && now.startsWith(wanted))
  const shown = (now) => now && now !== before && right(now)
  const look = () => (shown(value()) ? done(Date.now()) : setTimeout(look, 20))
  setTimeout(() => refuse(new Error(`no ${name || "words"} ${wanted} of ${selector}, but ${value()}`)), patience)
  look()
}) }"""
# when the teacher acted: the first of these events since now
ACTED = """(event) => { window.acted = null
  addEventListener(event, () => (window.acted ??= Date.now()), { capture: true, once: true }) }"""
# each frame of the film that a page shows, with the moment
REEL = """() => { window.reel = []
  const within = (node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]
  const all = (root) => [...root.querySelectorAll("*")].flatMap(within)
  let film
  const look = () => {
    if (!film?.isConnected) film = all(document).find((node) => node.matches(".film"))
    const frame = film?.dataset.frame
    if (frame !== undefined && window.reel.at(-1)?.[0] !== frame) window.reel.push([frame, Date.now()])
    window.filming = setTimeout(look, 15)
  }
  look()
}"""


@contextmanager
def phones_of(browser: Browser, watch: Watch, count: int, lang: str) -> Generator[list[Page]]:
    """So many, in the language, every second one dark, in a few processes like this browser's."""
    browsers = [browser.browser_type.launch(executable_path=find_chromium(), args=FLAGS) for _ in range(PROCESSES)]
    pages = list[Page]()
    for number in range(count):
        scheme = "dark" if number % 2 else "light"
        context = browsers[number % PROCESSES].new_context(**PHONE, locale=LOCALE[lang], color_scheme=scheme)
        watch.follow(context)
        pages.append(context.new_page())
    try:
        yield pages
    finally:
        for one in browsers:
            one.close()


def facts(page: Page) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = page.evaluate(SHOWN)
    return {key: {name: held for name, held in one.items() if name not in OWN} for key, one in found.items()}


def together(teacher: Page, phones: list[Page], *figures: str) -> None:
    """Every phone has the teacher's title and text, these figures, and each of its figures tells what his tells."""
    for phone in phones:
        eventually(phone, partial(_apart, teacher, phone, figures), lambda wrong: not wrong)


def _apart(teacher: Page, phone: Page, figures: tuple[str, ...]) -> dict[str, Any]:
    here, there = facts(teacher), facts(phone)
    here["title"], there["title"] = (
        {"words": "".join((page.locator(TITLE[who]).text_content() or "").split())}
        for who, page in (("teacher", teacher), ("phone", phone))
    )
    own = "/steps" in teacher.url  # its small numbers are of no text
    here["text"] = {"words": "" if own else teacher.locator(".st-key-text_box textarea").input_value()}
    there["text"] = {"words": phone.locator(TEXT).text_content() or ""}
    # a figure of HTML tells nothing, and on the teacher's page it is no figure
    wrong: dict[str, Any] = {key: (here.get(key), held) for key, held in there.items() if here.get(key, {}) != held}
    return wrong | {key: "is not on the phone" for key in figures if key not in there}


# -- how soon ---------------------------------------------------------------------------------------------------------


@dataclass
class Times:
    """Milliseconds from what the teacher did to each phone, by what was done."""

    found: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def add(self, name: str, waits: list[float]) -> None:
        self.found.setdefault(name, []).extend(waits)

    def p95(self, name: str) -> float:
        """The time after which 95 % of the phones had it."""
        waits = sorted(self.found[name])
        return waits[math.ceil(0.95 * len(waits)) - 1]

    def told(self) -> str:
        """A line each."""
        lines = (f"{name}: {median(waits):.0f} ms, 95 % {self.p95(name):.0f} ms" for name, waits in self.found.items())
        return "\n".join(lines)


def timed(
    teacher: Page,
    phones: list[Page],
    shown: tuple[str, str, str | None],
    act: Callable[[], None],
    *,
    by: str = "pointerdown",
    fresh: bool = False,
) -> list[float]:
    """How long after the teacher's event each phone showed this: a selector, a data attribute, its value.

    "" is for the words instead of an attribute, None for any value; ``fresh``: for another one than before.
    """
    for phone in phones:
        phone.evaluate(SEEN, [*shown, fresh, PATIENCE])
    teacher.evaluate(ACTED, by)
    act()
    seen = [phone.evaluate("window.seen") for phone in phones]
    acted = teacher.evaluate("window.acted")
    return [at - acted for at in seen]


def filmed(teacher: Page, phones: list[Page], play: Callable[[], None]) -> list[float]:
    """How far every phone is behind at every frame of a film that plays until ``play`` comes back."""
    for page in (teacher, *phones):
        page.evaluate(REEL)
    play()
    last = teacher.evaluate("window.reel.at(-1)[0]")
    for phone in phones:
        expect(phone.locator(".film")).to_have_attribute("data-frame", last)
    reels = [
        {int(frame): at for frame, at in page.evaluate("clearTimeout(window.filming) || window.reel")}
        for page in (teacher, *phones)
    ]
    return [reel[frame] - at for frame, at in reels[0].items() if frame for reel in reels[1:] if frame in reel]


# -- what is answered -------------------------------------------------------------------------------------------------


def tap(phone: Page, number: int) -> str:
    """One of the options that there are, and what it is called."""
    buttons = phone.locator(".vote .options:not(.layers) button")
    expect(buttons.first).to_be_visible()
    return _pressed(buttons.nth(number % buttons.count()))


def type_token(phone: Page, token: str) -> str:
    """Some of a token, and a tap on what it is completed to."""
    phone.locator(".vote label input").last.fill(token)
    return _pressed(phone.locator(".options button", has_text=re.compile(rf"^·?{token}$")).first)


def tap_head(phone: Page, layer: int, head: int) -> str:
    phone.locator(".options.layers button").nth(layer).click()
    return tap(phone, head)


def type_number(phone: Page, number: str) -> str:
    phone.locator(".vote form input").fill(number)
    phone.locator(".vote form button").click()
    return number


def _pressed(button: Locator) -> str:
    label = button.text_content() or ""
    button.click()
    return label


def counted(phones: list[Page], labels: list[str]) -> None:
    """Each phone says which answer of it was counted."""
    for phone, label in zip(phones, labels, strict=True):
        expect(phone.locator(".answer")).to_contain_text(label)
