"""The possible steps on a page, found by role and done like a reader, with the mouse and the keyboard."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Error, Page

from ui.shell.models_offered import EMBEDDED

TEXTS = (
    "The capital of France is",
    "no",
    "北京是中国的首都。",
    "def add(a, b):\n    return a + b",
    "a < b & `c` <i>d</i> $e$ \\f",
    "😀 ok",
    "lamp river seven cloud lamp river seven cloud lamp river",
)
WORDS = ("dog", " the", "3, 1", "7, 3; 6, 2", "nonsense words", "")  # for boxes of one line
HISTORY = ("back", "forward", "reload")
MOST_OPTIONS = 40  # of a list that are ever chosen
# The models of the boxes that are on this machine; the others are on the hub, and there is no network.
OFFERED = {"model_box": len(EMBEDDED), "compare-model": 1 + len(EMBEDDED)}
MENUS = "[data-testid=stSelectboxVirtualDropdown] [role=option], [data-testid=stMultiSelectDropdown] [role=option]"
TIMEOUT = 15_000  # ms for a menu to open or a file to be made, on a machine that has much else to do


@dataclass(frozen=True)
class Control:
    """One control of the page: its place among those found, its kind, its names, and its widget's key."""

    index: int
    kind: str
    name: str
    key: str
    option: str

    @property
    def group(self) -> str:
        """Controls of a group share their turn: the seven examples are as likely as one slider."""
        return f"{self.kind} {re.sub(r'[_ ].*', '', self.key) if self.kind == 'button' else self.key}"

    def __str__(self) -> str:
        names = dict.fromkeys(filter(None, (self.name, self.option)))
        return f"{self.kind} {self.key or '–'} {' / '.join(names)!r}"


@dataclass(frozen=True)
class Step:
    """What was done, and what the control is to show from then on; None where that is not known."""

    words: str
    control: Control | None = None
    shows: str | None = None


def controls(page: Page) -> list[Control]:
    """Everything that can be used now."""
    return [Control(**one) for one in page.evaluate("walk.controls()")]


def take_step(page: Page, rng: random.Random) -> Step:
    """Do something, chosen at random among what there is."""
    if rng.random() < 0.06:
        return _go(page, rng.choice(HISTORY))
    groups: dict[str, list[Control]] = {}
    for one in controls(page):
        groups.setdefault(one.group, []).append(one)
    names = sorted(groups)
    if not names:  # a menu that is only read
        page.keyboard.press("Escape")
        return Step("close the menu")
    for _attempt in range(20):
        control = rng.choice(groups[rng.choice(names)])
        at = (rng.uniform(0.05, 0.95), rng.uniform(0.05, 0.95)) if control.kind == "canvas" else (0.5, 0.5)
        spot = page.evaluate("([index, across, down]) => walk.reach(index, across, down)", [control.index, *at])
        if spot is not None:
            return DO[control.kind](page, rng, control, (spot["x"], spot["y"]))
    return Step("found nothing within reach")


def _go(page: Page, where: str) -> Step:
    if where == "reload":
        page.reload()
    else:
        before = page.url
        (page.go_back if where == "back" else page.go_forward)(wait_until="commit")
        if not page.url.startswith("http://127.0.0.1"):  # before the first page
            page.goto(before)
    return Step(where)


Spot = tuple[float, float]


def _click(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    page.mouse.click(*spot)
    return Step(f"click {control}")


def _canvas(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    if rng.random() < 0.6 or not page.evaluate("index => walk.focus(index)", control.index):
        page.mouse.click(*spot)
        return Step(f"click {control} at {spot}")
    keys = [rng.choice(("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End")) for _ in range(3)]
    for key in (*keys, "Enter"):
        page.keyboard.press(key)
    return Step(f"press {' '.join(keys)} Enter on {control}")


def _choose(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    page.mouse.click(*spot)
    return Step(f"choose {control}", control, "true")


def _select(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    page.mouse.click(*spot)
    options = page.locator(MENUS)
    try:
        options.first.wait_for(timeout=TIMEOUT)
    except Error:
        page.keyboard.press("Escape")
        return Step(f"{control} did not open")
    option = options.nth(rng.randrange(min(options.count(), OFFERED.get(control.key, MOST_OPTIONS))))
    words = option.inner_text().strip()
    option.click()
    if control.kind == "select":
        try:
            options.first.wait_for(state="hidden", timeout=TIMEOUT)
        except Error:  # drawn anew under the pointer: its reader sees that it is open still, and clicks once more
            options.filter(has_text=words).first.click()
    return Step(f"{control} → {words!r}", control, words)


def _multiselect(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    step = _select(page, rng, control, spot)
    page.keyboard.press("Escape")
    return Step(step.words)


def _slider(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    page.evaluate("index => walk.focus(index)", control.index)
    keys = [
        rng.choice(("ArrowLeft", "ArrowRight", "ArrowUp", "Home", "End", "PageUp")) for _ in range(rng.randint(1, 4))
    ]
    for key in keys:
        page.keyboard.press(key)
    shows = page.evaluate("index => walk.settled(index)", control.index)
    return Step(f"press {' '.join(keys)} on {control}", control, shows)


def _number(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    least, most = page.evaluate("index => walk.bounds(index)", control.index)  # beyond them nothing is sent
    number = str(min(max(rng.choice((0, 1, 2, 3, 5, 7)), least), most))
    page.mouse.click(*spot)
    page.keyboard.press("Control+A")
    page.keyboard.type(number)
    page.keyboard.press("Enter")
    return Step(f"type {number} in {control}")


def _text(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    whole = control.key == "text_box"
    words = rng.choice(TEXTS if whole else WORDS)
    page.mouse.click(*spot)
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(words) if words else page.keyboard.press("Delete")
    page.keyboard.press("Control+Enter" if whole else "Enter")
    return Step(f"type {words!r} in {control}", control if whole else None, words)


def _native(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    page.evaluate("index => walk.focus(index)", control.index)
    key = rng.choice(("ArrowDown", "ArrowUp", "End", "Home"))
    page.keyboard.press(key)
    return Step(f"press {key} on {control}")


def _open(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    page.mouse.click(*spot)
    return Step(f"open {control}")


def _download(page: Page, rng: random.Random, control: Control, spot: Spot) -> Step:
    with page.expect_download(timeout=TIMEOUT) as download:
        page.mouse.click(*spot)
    size = download.value.path().stat().st_size
    if not size:
        raise AssertionError(f"{control} gives an empty file")
    return Step(f"download {control}: {size} bytes")


DO: dict[str, Callable[[Page, random.Random, Control, Spot], Step]] = {
    "link": _click,
    "button": _click,
    "item": _click,
    "switch": _click,
    "canvas": _canvas,
    "choose": _choose,
    "select": _select,
    "multiselect": _multiselect,
    "slider": _slider,
    "number": _number,
    "text": _text,
    "native": _native,
    "open": _open,
    "download": _download,
}
