"""How long does a reader wait? The app in a fresh process, a real Chromium, times taken inside the page.

    python -m benchmarks.page_latency [--starts 3] [--clicks 21] [--texts 9]

A click asks for two things: the map comes by HTTP, before the page has run; the name above it with the page's run.

Start: from spawning `streamlit run` to the picture, with the browser already open. Click and text: from the input event
to the end of the frame in which the new picture is drawn. The floor is the same click on bare Streamlit with one canvas
(_floor_app.py), on this machine in the same run. No request of the page, and no connection of the server, may
leave this machine.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from statistics import median
from urllib.parse import quote

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks._app import PAUSE, opened_page, running_app, settle
from benchmarks._table import Target, machine, print_table
from model_runner.local.model_folder import DEFAULT_FOLDER
from tests.browser import CHROMIUM, FLAGS, Watch
from viz.components.head_grid import head_grid
from viz.components.head_map import head_map
from viz.components.token_lines import token_lines
from viz.components.token_strip import token_strip

FRAME, HEADS = Target(3, " s"), Target(8, " s")
CLICK = {128: Target(100, " ms"), 1024: Target(150, " ms")}
TEXT = Target(700, " ms")
TEXT_TOKENS = 50
COMPONENTS = (head_map.SOURCE, head_grid.SOURCE, token_lines.SOURCE, token_strip.SOURCE)  # of the page Heads
Clicks = tuple[list[float], list[float], list[int]]  # milliseconds to the map and to its name, bytes of each message
WORDS = "the cat that my old friend found was asleep when we came home and nobody knew why it had left its fire".split()  # noqa: SIM905  # read as prose


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=3, help="fresh servers to start, after one that is not counted")
    parser.add_argument("--clicks", type=int, default=21, help="clicks on heads, at each length")
    parser.add_argument("--texts", type=int, default=9, help="new texts of 50 tokens")
    options = parser.parse_args()
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        sys.exit(f"No Chromium on this machine (looked for {', '.join(CHROMIUM)}).")
    watch = Watch()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        starts = [_start(browser, watch) for _ in range(options.starts + 1)][1:]  # the first reads files from disk
        floor = _floor(browser, watch, options.clicks)
        clicks = {n: _clicks(browser, watch, n, options.clicks) for n in CLICK}
        texts = _texts(browser, watch, options.texts)
        version = browser.version
        browser.close()
    frames, heads = zip(*starts, strict=True)
    rows = [
        _row(f"start → frame, median of {len(starts)}", frames, FRAME, 2),
        _row(f"start → first heads, median of {len(starts)}", heads, HEADS, 2),
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
        *([f"messages a click, T = {n}", *_traffic(clicks[n])] for n in CLICK),
        _row(f"new text of {TEXT_TOKENS} tokens → heads, median of {len(texts)}", texts, TEXT, 0),
        [f"of {len(watch.requests)} requests, left this machine", str(len(watch.outside)), "", "0", _none(watch)],
    ]
    print_table("Waiting", ["from → to", "measured", "slowest", "target", ""], rows)
    print(f"{machine()}, Chromium {version}, 1440×900.")
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")


def _row(what: str, values: tuple[float, ...] | list[float], target: Target | None, digits: int) -> list[str]:
    unit = " ms" if target is None else target.unit
    middle, slowest = (f"{value:.{digits}f}{unit}" for value in (median(values), max(values)))
    return [what, middle, slowest, *(("", "") if target is None else (str(target), target.verdict(median(values))))]


def _traffic(clicks: Clicks) -> list[str]:
    """How many messages answer a click, how large they are together, and what part of them is components' scripts."""
    count, sizes = len(clicks[0]), clicks[2]
    scripts = sum(len(one.js) + len(one.css) for one in COMPONENTS)
    return [
        f"{len(sizes) / count:.0f}",
        f"{sum(sizes) / count / 1000:.0f} KB",
        "",
        f"{scripts / 1000:.0f} KB of scripts",
    ]


def _none(watch: Watch) -> str:
    return "NOT ok" if watch.outside else "ok"


def _start(browser: Browser, watch: Watch) -> tuple[float, float]:
    """Seconds from spawning the server to the frame, and to the first heads."""
    with running_app(watch) as app, opened_page(browser, watch) as page:
        app.open(page)
        frame, heads = (page.evaluate("name => probe.opened(name)", name) / 1000 for name in ("frame", "heads"))
        print(f"  start: frame {frame - app.spawned:.2f} s, heads {heads - app.spawned:.2f} s", file=sys.stderr)
        return frame - app.spawned, heads - app.spawned


def _floor(browser: Browser, watch: Watch, count: int) -> list[float]:
    """Milliseconds from a click to another canvas, where there is nothing else."""
    found = list[float]()
    with running_app(watch, "benchmarks/_floor_app.py") as app, opened_page(browser, watch) as page:
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
    """From clicks on other heads to their maps, to their names above them, and what the server sent for it."""
    shuffled, found, named, received = random.Random(n_tokens), list[float](), list[float](), list[int]()
    with running_app(watch) as app, opened_page(browser, watch) as page:
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
        app.open(page, f"/?text={quote(text_of(n_tokens, 0))}")
        page.evaluate("probe.opened('heads')")
        for turn in range(count + 2):  # two to warm up
            settle(page)
            if turn == 2:
                received.clear()
            name = _point_at_another_head(page, shuffled)
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


def _point_at_another_head(page: Page, shuffled: random.Random) -> str:
    """Move the mouse over a head that is not open; its name."""
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
    """Milliseconds from Ctrl+Enter behind a new text to its heads."""
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


def text_of(n_tokens: int, seed: int) -> str:
    """Words that the embedded tokenizer reads as so many tokens, its beginning-of-text token included."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(DEFAULT_FOLDER / "tokenizer.json"))
    text = " ".join(random.Random(seed).choices(WORDS, k=n_tokens))
    encoding = tokenizer.encode(text)
    text = text[: encoding.offsets[n_tokens - 1][1]]
    assert len(tokenizer.encode(text).ids) == n_tokens
    return text


if __name__ == "__main__":
    main()
