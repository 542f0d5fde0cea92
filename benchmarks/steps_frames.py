"""Do Step by step and Zoo keep up with a hand on a slider? Frames a second in the app, in a real Chromium.

    python -m benchmarks.steps_frames [--seconds 3] [--only WORDS]

Every slider that is followed in the browser gets another value in every frame, and the script counts the frames in
which its picture was redrawn; the screen gives at most 60 per second. "In a frame" is the CPU time of the page's main
thread per frame, which other work on the machine does not affect: what is left of 20 ms is spare. Nothing may be sent
while the slider moves.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Browser, Page

from benchmarks._app import App, opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks._table import machine, print_table
from tests.browser import Watch

LEAST = 50  # frames a second
RESTS = 1500  # milliseconds; after this rest a slider sends its value to the server, and the page runs
START = 300_000  # ms within which a busy machine has started the engine
FIND = """([selector, place]) => [...document.querySelectorAll("*")]
  .flatMap((one) => (one.shadowRoot ? [...one.shadowRoot.querySelectorAll(selector)] : []))[place]"""
DRAG = f"""async ([selector, place, milliseconds]) => {{
  const slider = ({FIND})([selector, place])
  const root = slider.closest("[data-painted]")
  const frame = () => new Promise(requestAnimationFrame)
  const [least, most, step] = [slider.min, slider.max, slider.step].map(Number)
  const places = Math.round((most - least) / step)
  const app = document.querySelector("[data-testid=stApp]")
  const start = await frame()
  const before = Number(root.dataset.painted)
  let [now, runs, frames] = [start, 0, 0]
  for (let i = 1; now - start < milliseconds; i++) {{
    const there = i % (2 * places)
    slider.value = String(least + step * (there > places ? 2 * places - there : there)) // there and back
    slider.dispatchEvent(new Event("input", {{ bubbles: true, composed: true }}))
    now = await frame()
    frames++
    runs += app.dataset.testScriptState === "running"
  }}
  const painted = Number(root.dataset.painted) - before
  return [(1000 * painted) / (now - start), painted, frames, runs]
}}"""
X = "[data-matrix=X] input"


@dataclass(frozen=True)
class Drag:
    """A slider by its view and its index; ``cell``: the number whose slider it is, which is clicked first."""

    what: str
    address: str
    selector: str
    place: int = 0
    cell: str = ""


TEXT = "text=" + "+".join(["dog"] * 120)  # about the longest text for which a head's matrices are drawn
PAINTED = ".step-by-step[data-painted], .chart[data-painted], .bracketings[data-painted], .flash-film[data-painted]"
DRAGS = (
    Drag("why √d: d", "/steps?steps.view=scale&steps.step=gradient", ".knob input", 0),
    Drag("why √d: temperature", "/steps?steps.view=scale&steps.step=gradient", ".knob input", 1),
    Drag("why √d: a product", "/steps?steps.view=scale", ".slide input", cell="[data-matrix=P] input"),
    Drag("length: gap", "/steps?steps.view=length", ".chart .knob input"),
    Drag("softmax: largest score", "/steps?steps.view=softmax", ".knob input"),
    Drag("softmax: a score", "/steps?steps.view=softmax&steps.step=log", ".slide input", cell="[data-matrix=S] input"),
    Drag("the steps: a number of X", "/steps?steps.tokens=6&steps.d=8&steps.step=q", ".slide input", cell=X),
    Drag("softmax: the cutoff", "/steps?steps.view=softmax&steps.softmax=vocabulary", ".chart .knob input"),
    Drag("linear attention: tokens read", f"/zoo?zoo.view=linear&{TEXT}", ".bracketings .scrub"),
    Drag("Lightning: size of blocks", f"/zoo?zoo.view=linear&zoo.linear=blocks&{TEXT}", ".bracketings .size"),
    Drag("Lightning: blocks read", f"/zoo?zoo.view=linear&zoo.linear=blocks&{TEXT}", ".bracketings .scrub"),
    Drag("FlashAttention: a frame", f"/zoo?zoo.view=flash&{TEXT}", ".flash-film .scrub"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="how long each slider is drawn")
    parser.add_argument("--only", default="", help="sliders whose names have these words")
    options = parser.parse_args()
    watch = Watch()
    with chromium() as browser:
        with running_app(watch) as app:
            rows = [_row(browser, watch, app, drag, options.seconds) for drag in DRAGS if options.only in drag.what]
        version = browser.version
    head = ["slider", "frames/s", "frames drawn", "in a frame", "target", ""]
    print_table("Drawing the sliders of Step by step and Zoo", head, rows)
    print(f"{machine()}, Chromium {version}, 1440×900.")
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")


def _row(browser: Browser, watch: Watch, app: App, drag: Drag, seconds: float) -> list[str]:
    with opened_page(browser, watch) as page:
        app.open(page, drag.address)
        page.locator(PAINTED).first.wait_for(timeout=START)
        settle(page)
        if drag.cell:
            page.locator(drag.cell).first.click()
        page.evaluate(DRAG, [drag.selector, drag.place, 500])  # to warm up
        page.wait_for_timeout(RESTS)
        settle(page)
        worked = working(page)
        before = worked()
        rate, painted, frames, runs = page.evaluate(DRAG, [drag.selector, drag.place, 1000 * seconds])
        own = (worked() - before) / max(1, painted)
    verdict = "ok" if rate >= LEAST and not runs else "NOT ok"
    return [drag.what, f"{rate:.0f}", f"{painted} of {frames}", f"{own:.1f} ms", f"≥ {LEAST}, no run", verdict]


def working(page: Page) -> Callable[[], float]:
    """Milliseconds of CPU time that the page's main thread has used so far."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    return read


if __name__ == "__main__":
    main()
