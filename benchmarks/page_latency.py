"""How long does a user wait? The app in a fresh process, a real Chromium, times taken inside the page.

    python -m benchmarks.page_latency [--starts 5] [--clicks 21] [--texts 9]

A click causes two updates: the map arrives by HTTP, before the page has run; the name above it comes with the page's
run.

Start: from spawning `streamlit run` to the picture, with the browser already open; the app's first map is stored, and
the badge turns green when the engine has made the same one. Beside each start one of bare Streamlit with one canvas.
Memory is the server's own (resident) at these moments. Click and text: from the input event to the end of the frame in
which the new picture is drawn. The floor is the same click on bare Streamlit with one canvas
(_floor_app.py), on this machine in the same run. No request of the page, and no connection of the server, may
leave this machine.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from urllib.parse import quote

import psutil
from playwright.sync_api import Browser, Page

from benchmarks._app import PAUSE, App, opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks._table import Target, machine, print_table
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from tests.browser import Watch

FRAME, MAP, VERIFIED = Target(1.1, "×"), Target(1.3, "×"), Target(5, " s")
BEFORE, AFTER = Target(150, " MB"), Target(450, " MB")
CLICK = {128: Target(100, " ms"), 1024: Target(150, " ms")}
MESSAGES, BYTES = Target(30, ""), {128: Target(150, " KB"), 1024: None}  # that answer a click, over the WebSocket
TEXT = Target(250, " ms")
IDLE, AT_REST = Target(1, " %"), 20  # percent of one processor, and the seconds over which it is measured
TEXT_TOKENS = 50
FLOOR = "benchmarks/_floor_app.py"
Clicks = tuple[list[float], list[float], list[int]]  # milliseconds to the map and to its name, bytes of each message
WORDS = "the cat that my old friend found was asleep when we came home and nobody knew why it had left its fire".split()  # noqa: SIM905  # read as prose


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=5, help="fresh servers to start, after one that is not counted")
    parser.add_argument("--clicks", type=int, default=21, help="clicks on heads, at each length")
    parser.add_argument("--texts", type=int, default=9, help="new texts of 50 tokens")
    options = parser.parse_args()
    watch = Watch()
    with chromium() as browser:
        # the first start reads files from disk
        starts = [_start(browser, watch) for _ in range(options.starts + 1)][1:]
        floor = _floor(browser, watch, options.clicks)
        clicks = {n: _clicks(browser, watch, n, options.clicks) for n in CLICK}
        texts = _texts(browser, watch, options.texts)
        idle = _idle(browser, watch)
        version = browser.version
    bare = [one.bare for one in starts]
    rows = [
        _row(f"start → bare Streamlit and one canvas, median of {len(starts)}", bare, None, 2, " s"),
        _against("start → frame", [one.frame for one in starts], bare, FRAME),
        _against("start → first map, stored with the model", [one.map for one in starts], bare, MAP),
        _row("start → all heads, verified", [one.verified for one in starts], VERIFIED, 2),
        _row("memory with the stored map", [one.before for one in starts], BEFORE, 0),
        _row("memory with all heads", [one.after for one in starts], AFTER, 0),
        [
            "click → bare Streamlit and one canvas, median",
            f"{median(floor):.0f} ms",
            f"{max(floor):.0f} ms",
            "",
            "floor",
        ],
        *(
            _row(f"click → other head, T = {n}, median of {len(clicks[n][0])}", clicks[n][0], CLICK[n], 0)
            for n in CLICK
        ),
        *(_row(f"click → its name and numbers, T = {n}", clicks[n][1], None, 0) for n in CLICK),
        *(row for n in CLICK for row in _traffic(n, clicks[n])),
        _row(f"new text of {TEXT_TOKENS} tokens → heads, median of {len(texts)}", texts, TEXT, 0),
        _row("an open tab at rest: server and page", [idle.used], IDLE, 1),
        [
            f"messages of a tab at rest, {AT_REST} s",
            str(idle.messages),
            "",
            "0",
            "ok" if not idle.messages else "missed",
        ],
        [f"of {len(watch.requests)} requests, left this machine", str(len(watch.outside)), "", "0", _none(watch)],
    ]
    print_table("Waiting", ["from → to", "measured", "slowest", "target", ""], rows)
    print(f"{machine()}, Chromium {version}, 1440×900.")
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")


@dataclass(frozen=True)
class Start:
    """Seconds from spawning the server, and MB of memory: with the stored map, and with all heads."""

    bare: float
    frame: float
    map: float
    verified: float
    before: float
    after: float


def _against(what: str, values: list[float], floor: list[float], target: Target) -> list[str]:
    """A row judged by how many times as long as bare Streamlit it takes."""
    ratio = median(value / own for value, own in zip(values, floor, strict=True))
    cells = [f"{median(values):.2f} s, {ratio:.2f}×", f"{max(values):.2f} s"]
    return [what, *cells, str(target), target.verdict(ratio)]


def _row(what: str, values: Sequence[float], target: Target | None, digits: int, unit: str = " ms") -> list[str]:
    unit = unit if target is None else target.unit
    middle, slowest = (f"{value:.{digits}f}{unit}" for value in (median(values), max(values)))
    return [what, middle, slowest, *(("", "") if target is None else (str(target), target.verdict(median(values))))]


def _traffic(n_tokens: int, clicks: Clicks) -> Iterator[list[str]]:
    """How many messages answer a click, and their total size; the map itself is sent separately by HTTP."""
    count, sizes = len(clicks[0]), clicks[2]
    yield _row(f"messages a click, T = {n_tokens}", [len(sizes) / count], MESSAGES, 0)
    yield _row(f"their bytes, T = {n_tokens}", [sum(sizes) / count / 1000], BYTES[n_tokens], 0, " KB")


def _none(watch: Watch) -> str:
    return "NOT ok" if watch.outside else "ok"


def _start(browser: Browser, watch: Watch) -> Start:
    """Start bare Streamlit, then the app."""
    with running_app(watch, FLOOR) as app, opened_page(browser, watch) as page:
        app.open(page)
        bare = _seconds(page, "map") - app.spawned
    with running_app(watch) as app, opened_page(browser, watch) as page:
        app.open(page)
        frame, stored = _seconds(page, "frame"), _seconds(page, "map")
        before = _memory(app)
        verified = _seconds(page, "verified")
        settle(page)
        found = Start(bare, frame - app.spawned, stored - app.spawned, verified - app.spawned, before, _memory(app))
    print(f"  start: {found}", file=sys.stderr)
    return found


def _seconds(page: Page, name: str) -> float:
    return page.evaluate("name => probe.opened(name)", name) / 1000


def _memory(app: App) -> float:
    return psutil.Process(app.process.pid).memory_info().rss / 1e6


def _floor(browser: Browser, watch: Watch, count: int) -> list[float]:
    """Milliseconds from a click to another canvas, with nothing else on the page."""
    found = list[float]()
    with running_app(watch, FLOOR) as app, opened_page(browser, watch) as page:
        app.open(page)
        page.locator(".head-map[data-painted] canvas").wait_for()
        for turn in range(1, count + 3):  # two to warm up
            settle(page)
            page.evaluate("name => void probe.head(name)", f"L0H{turn}")
            page.locator(".head-map canvas").click()
            took = page.evaluate("probe.answer")
            if turn > 2:
                found.append(took)
    print(f"  floor: {[round(ms) for ms in found]}", file=sys.stderr)
    return found


def _clicks(browser: Browser, watch: Watch, n_tokens: int, count: int) -> Clicks:
    """Times from clicks on other heads to their maps and to the names above them, and what the server sent."""
    shuffled, found, named, received = random.Random(n_tokens), list[float](), list[float](), list[int]()
    with running_app(watch) as app, opened_page(browser, watch) as page:
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
        app.open(page, f"/?text={quote(text_of(n_tokens, 0))}")
        page.evaluate("probe.opened('heads')")
        for turn in range(count + 2):  # two to warm up
            settle(page)
            if turn == 2:
                received.clear()
            name = point_at_another_head(page, shuffled)
            page.evaluate("name => void probe.head(name)", name)
            page.mouse.down()
            page.mouse.up()
            took, words = page.evaluate("probe.answer"), page.evaluate("probe.words")
            if turn >= 2:
                found.append(took)
                named.append(words)
        settle(page)
    print(f"  clicks at {n_tokens}: {[round(ms) for ms in found]}", file=sys.stderr)
    return found, named, received


def point_at_another_head(page: Page, shuffled: random.Random) -> str:
    """Move the mouse over a head that is not open, and return its name."""
    box = page.locator(".head-grid canvas").bounding_box()
    assert box is not None
    while True:
        # Whole pixels, as of a real mouse: of a fraction, a click is told another pixel than the move before it.
        x, y = int(box["x"] + shuffled.random() * box["width"]), int(box["y"] + shuffled.random() * box["height"])
        page.mouse.move(x, y)
        hovered, selected = page.evaluate(
            "(({hovered, selected}) => [hovered, selected])(probe.find('.head-grid').dataset)"
        )
        if hovered and hovered != selected:
            layer, head = hovered.split(",")
            return f"L{layer}H{head}"


def _texts(browser: Browser, watch: Watch, count: int) -> list[float]:
    """Milliseconds from Ctrl+Enter after a new text to its heads."""
    found: list[float] = []
    with running_app(watch) as app, opened_page(browser, watch) as page:
        app.open(page)
        page.evaluate("probe.opened('heads')")
        for turn in range(count + 1):  # one to warm up
            settle(page)
            page.locator("[data-testid=stSidebar] textarea").fill(text_of(TEXT_TOKENS, turn + 1))
            page.wait_for_timeout(PAUSE)
            page.evaluate("void probe.text()")
            page.keyboard.press("Control+Enter")
            took = page.evaluate("probe.answer")
            if turn >= 1:
                found.append(took)
    print(f"  texts: {[round(ms) for ms in found]}", file=sys.stderr)
    return found


@dataclass(frozen=True)
class Idle:
    """The cost of an idle tab: percent of one processor, and messages in both directions."""

    used: float
    messages: int


def _idle(browser: Browser, watch: Watch) -> Idle:
    """The CPU time of the server's threads and of the page together."""
    messages = list[object]()

    def hear(frame: object) -> None:  # Playwright does not accept a built-in method as a listener
        messages.append(frame)

    with running_app(watch) as app, opened_page(browser, watch) as page:
        page.on("websocket", lambda socket: socket.on("framereceived", hear))
        page.on("websocket", lambda socket: socket.on("framesent", hear))
        app.open(page)
        page.evaluate("probe.opened('verified')")
        settle(page)
        page.wait_for_timeout(10_000)  # the browser's work after loading
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable")

        def spent() -> float:
            told = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
            times = psutil.Process(app.process.pid).cpu_times()
            return times.user + times.system + told["TaskDuration"]

        messages.clear()
        before = spent()
        page.wait_for_timeout(AT_REST * 1000)
        found = Idle(100 * (spent() - before) / AT_REST, len(messages))
    print(f"  {found}", file=sys.stderr)
    return found


def text_of(n_tokens: int, seed: int) -> str:
    """Words that the embedded tokenizer reads as so many tokens, including the beginning-of-text token."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(DEFAULT_FOLDER / "tokenizer.json"))
    text = " ".join(random.Random(seed).choices(WORDS, k=n_tokens))
    encoding = tokenizer.encode(text)
    text = text[: encoding.offsets[n_tokens - 1][1]]
    assert len(tokenizer.encode(text).ids) == n_tokens
    return text


if __name__ == "__main__":
    main()
