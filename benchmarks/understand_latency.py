"""How long do controls of Step by step, The block and Zoo take that are not drawn? The app, a real Chromium.

    python -m benchmarks.understand_latency [--turns 9] [--page block] [--only WORDS]

From the click, or from Enter in an open list, to the end of the last frame in which the part of the page that answers
first shows something new, words or pictures; the page around it follows 150 ms later. Of a picture that answers by
itself, and of views, to the frame in which that has. The embedded model and the text it opens with; every place is
looked at once before, so that what is kept is kept, as for who goes back and forth; "first" is the slowest of these
first looks. The server's own time, which other work on the machine does not lengthen, stands beside the median. How
long the very first visits take: `benchmarks/first_visits.py`; how a dragged slider is followed:
`benchmarks/steps_frames.py`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from statistics import median
from typing import Literal

import psutil
from playwright.sync_api import Browser, Page
from playwright.sync_api import Error as PlaywrightError

from benchmarks._app import App, opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks._table import Target, machine, print_table
from tests.browser import Watch

ANSWER = Target(300, " ms")
START = 300_000  # ms in which a busy machine has the engine
# The promise is of the milliseconds from the input to the frame that ends it: a run of the page, or a component's own.
# A run that is over before React draws it leaves its number alone, see ui/state/inputs.py. A chart is drawn after
# the page has ended where Streamlit (1.67) has to import its script.
ARM = """([selector, enough]) => {
  const app = document.querySelector("[data-testid=stApp]")
  const main = document.querySelector("[data-testid=stMain]")
  const every = () => [...document.querySelectorAll("*")]
  const within = (what) => every().flatMap((one) => [...(one.shadowRoot?.querySelectorAll(what) ?? [])])
  const numbers = new Map()  // of each picture, which may be mounted anew
  const named = (one) => numbers.get(one) ?? numbers.set(one, numbers.size).get(one)
  const picture = () => {
    const root = document.querySelector(selector) ?? within(selector).at(-1)  // of two maps the changed one
    const drawn = root?.dataset.painted ?? root?.innerHTML
    return drawn && `${named(root)} ${drawn}`
  }
  const page = () => [
    ...[...main.querySelectorAll("[data-testid=stElementContainer]")].map((one) => one.textContent),
    ...[...main.querySelectorAll(".js-plotly-plot")].map((one) => `${named(one)} ${one.innerHTML.length}`),
    ...within("[data-painted]").map((one) => `${named(one)} ${one.dataset.painted}`),
  ]
  let shown = new Set(selector ? [] : page())
  const differs = () => {
    const now = page()
    const found = now.some((one) => !shown.has(one))  // what goes leaves late
    shown = new Set(now)
    return found
  }
  const number = () => document.querySelector(".st-key-echo input")?.value
  const coming = () => document.querySelector("[data-testid=stSkeleton], .stPlotlyChart:not(:has(.main-svg))")
  const before = selector ? picture() : null
  const last = number()
  let [began, ran, changed] = [0, false, 0]
  const note = (event) => (began = event.timeStamp)
  for (const kind of ["pointerup", "keydown"]) addEventListener(kind, note, { capture: true, once: true })
  const noted = (records) => (ran ||= records.some((one) => one.oldValue === "running"))
  new MutationObserver(noted).observe(app, { attributeFilter: ["data-test-script-state"], attributeOldValue: true })
  const afterPaint = (then) => requestAnimationFrame(() => {
    const channel = new MessageChannel()
    channel.port1.onmessage = () => then(performance.now() - began)
    channel.port2.postMessage(0)
  })
  window.answer = new Promise((resolve, refuse) => {
    setTimeout(() => refuse(new Error(began ? "no answer" : "no input")), 60000)
    const look = () => {
      const still = app.dataset.testScriptState === "notRunning" && !coming()
      const whole = (ran ||= number() !== last) && still
      if (began && !selector && differs()) afterPaint((took) => (changed = took))
      const done = selector ? ![undefined, before].includes(picture()) || (enough && whole) : whole
      if (!began || !done) return requestAnimationFrame(look)
      afterPaint((took) => resolve(changed || took))
    }
    look()
  })
}"""

Kind = Literal[
    "segments", "list", "switch", "button", "canvas", "rows", "slider", "range"
]  # of a canvas: places across, or down; a range is a component's own slider


@dataclass(frozen=True)
class Control:
    """``key`` is of a widget, or a selector of what is clicked; ``own``: of the picture that is waited for.

    Of views, some of which have no such picture, the page's end is waited for at most.
    """

    what: str
    address: str
    kind: Kind
    key: str
    own: str = ""


STEPS, CELLS, STRIPS = ".step-by-step", ".layer-head-map canvas", ".model-stages"
FILM, MAP = ".flash-film", ".layer-head-map"
GRADIENTS, LOADS = (f".st-key-{key} {CELLS}" for key in ("gradient_map", "expert_load"))
TOKEN, LAYER = ".token-strip .chip", ".model-strip .layer .box"
PICTURES = ".model-stages, .layer-head-map, .js-plotly-plot, .atlas-ranks, .atlas-wide, .atlas-known, .step-by-step"
LAYERS, CHANGED = ".st-key-zoo_stack button:visible", ".atlas-next.change tbody"  # what the model then says
COST, FEATURES, LINES = "/zoo?zoo.view=cost", "zoo-long-performer-features", ".js-plotly-plot .scatterlayer"
SIZE, BESIDE = ".bracketings .size", "zoo-neighbours"
CHART, KNOB, SUMS, HEAD = ".js-plotly-plot", ".chart .knob input", ".bracketings", ".head-map"
LONG = "/zoo?text=" + "+".join(["dog"] * 270)  # a longer text than the head's map shows
CONTROLS = (
    Control("Step by step: view", "/steps", "segments", "steps-view"),
    Control("numbers: small, the model's", "/steps", "segments", "steps-source"),
    Control("tokens", "/steps", "list", "steps-tokens"),
    Control("dimensions", "/steps", "list", "steps-d"),
    Control("heads", "/steps?steps.d=8", "list", "steps-heads"),
    Control("head, of the small numbers", "/steps?steps.d=8&steps.heads=4", "list", "steps-head"),
    Control("mask", "/steps", "switch", "steps-causal"),
    Control("divide by √d", "/steps", "switch", "steps-scaled"),
    Control("a step", "/steps", "button", ".step-by-step .line button", STEPS),
    Control("what comes here?", "/steps", "button", ".step-by-step .ask", STEPS),
    Control("why √d: divide by √d", "/steps?steps.view=scale", "switch", "steps-scaled"),
    Control("softmax: dtype", "/steps?steps.view=softmax", "segments", "steps-dtype"),
    Control("similarity: small, the model's", "/steps?steps.view=similarity", "segments", "steps-source"),
    Control("gradients: depth of the stack", "/steps?steps.view=gradients", "list", "steps-depth"),
    Control("seen otherwise: which", "/steps?steps.view=otherwise", "segments", "steps-otherwise"),
    Control("seen otherwise: softness", "/steps?steps.view=otherwise", "slider", "steps-softness"),
    Control("batch: padding, cache, packing", "/steps?steps.view=batch", "segments", "steps-batch"),
    Control("batch: dropout", "/steps?steps.view=batch", "switch", "steps-dropout"),
    Control("packing: window", "/steps?steps.view=batch&steps.batch=packing", "list", "steps-window"),
    Control("softmax: the cutoff", "/steps?steps.view=softmax&steps.softmax=vocabulary", "range", KNOB, ".chart"),
    Control("length: the gap", "/steps?steps.view=length", "range", KNOB, ".chart"),
    Control("The block: view", "/block", "segments", "block-view"),
    Control("The block: view, its first picture", "/block", "segments", "block-view", PICTURES),
    Control("a block opened", "/block", "button", ".model-stages button", STRIPS),
    Control("architecture: a token", "/block", "button", TOKEN, STRIPS),
    Control("stream: a token", "/block?block.view=stream", "button", TOKEN, STRIPS),
    Control("streams: all, needed, cache", "/block?block.view=streams", "segments", "block-streams"),
    Control("streams: links", "/block?block.view=streams", "segments", "block-links"),
    Control("FFN: gated, small numbers", "/block?block.view=ffn&block.ffn=small", "switch", "block-gated"),
    Control("stream: one token, all", "/block?block.view=stream", "segments", "block-tokens", CHART),
    Control("norms: layer", "/block?block.view=norms", "button", LAYER, STRIPS),
    Control("FFN: layer", "/block?block.view=ffn", "button", LAYER, ".atlas-ranks"),
    Control("experts: whose", "/block?block.view=experts", "segments", "block-experts"),
    Control("experts: a load", "/block?block.view=experts&block.experts=random", "rows", LOADS),
    Control("experts: layer", "/block?block.view=experts&block.experts=random", "list", "block-expert_layer", MAP),
    Control("lens: colours", "/block?block.view=lens", "segments", "block-shade", MAP),
    Control("lens: a cell", "/block?block.view=lens", "canvas", CELLS, MAP),
    Control("learning: rate", "/block?block.view=learning", "segments", "block-rate"),
    Control("learning: a head", "/block?block.view=learning", "canvas", GRADIENTS, MAP),
    Control("Zoo: view", "/zoo", "segments", "zoo-view"),
    Control("Zoo: view, its first picture", "/zoo", "segments", "zoo-view", f"{PICTURES}, {HEAD}, {SUMS}, {FILM}"),
    Control("on the head: variant", "/zoo", "list", "zoo-variant", HEAD),
    Control("on the head: beside it", "/zoo", "list", "zoo-beside"),
    Control("on the head: first token drawn", LONG, "slider", "zoo-start", HEAD),
    Control("in the model: variant", "/zoo?zoo.view=model", "list", "zoo-variant", HEAD),
    Control("in the model: where", "/zoo?zoo.view=model", "segments", "zoo-where", CHANGED),
    Control("convolution: neighbours", "/zoo?zoo.view=model&zoo.variant=relu", "slider", BESIDE),
    Control("linear attention: two orders, blocks", "/zoo?zoo.view=linear", "segments", "zoo-linear"),
    Control("linear attention: tokens read", "/zoo?zoo.view=linear", "range", f"{SUMS} .scrub", SUMS),
    Control("linear attention: size of blocks", "/zoo?zoo.view=linear&zoo.linear=blocks", "range", SIZE, SUMS),
    Control("FlashAttention: queries in a tile", "/zoo?zoo.view=flash&zoo.blocks=own", "slider", "zoo-rows", FILM),
    Control("FlashAttention: order of the loops", "/zoo?zoo.view=flash", "segments", "zoo-order", FILM),
    Control("FlashAttention: keys in a tile", "/zoo?zoo.view=flash&zoo.blocks=own", "slider", "zoo-columns", FILM),
    Control("FlashAttention: SRAM", "/zoo?zoo.view=flash", "slider", "zoo-sram", FILM),
    Control("FlashAttention: tiles", "/zoo?zoo.view=flash", "segments", "zoo-blocks", FILM),
    Control("FlashAttention: a frame", "/zoo?zoo.view=flash", "range", f"{FILM} .scrub", FILM),
    Control("matrix: which", "/zoo?zoo.view=weights", "list", "zoo-matrix", HEAD),
    Control("matrix: a singular value", "/zoo?zoo.view=weights", "slider", "zoo-factors-1", ".head-map"),
    Control("hybrid: a layer", "/zoo?zoo.view=hybrid", "button", LAYERS, CHANGED),
    Control("hybrid: a layer, all of the page", "/zoo?zoo.view=hybrid", "button", LAYERS),
    Control("hybrid: variant", "/zoo?zoo.view=hybrid", "list", "zoo-variant", CHANGED),
    Control("hybrid: softmax whole, in blocks", "/zoo?zoo.view=hybrid", "segments", "zoo-kept", CHANGED),
    Control("cost: by formula, measured", COST, "segments", "zoo-how"),
    Control("cost, by formula: variant", COST, "list", "zoo-variant", LINES),
    Control("cost, by formula: beside it", f"{COST}&zoo.variant=performer", "list", "zoo-beside"),
    Control("cost, by formula: a number", COST + "&zoo.variant=blocks", "slider", "zoo-long-blocks-size", LINES),
    Control("cost, by formula: features", COST + "&zoo.variant=performer", "slider", FEATURES, LINES),
    Control("surprise: read up to", "/zoo?zoo.variant=titans", "slider", "zoo-read"),
)  # fmt: skip  # a control a line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=9, help="of each control, after its first looks")
    parser.add_argument("--only", default="", help="controls whose names have these words")
    parser.add_argument("--page", default="", choices=("", "steps", "block", "zoo"), help="controls of this page alone")
    options = parser.parse_args()
    watch, rows = Watch(), list[list[str]]()
    with chromium() as browser:
        with running_app(watch) as app:
            for control in CONTROLS:
                if options.only in control.what and options.page in control.address:
                    rows.append(_row_of(browser, watch, app, control, options.turns))
        version = browser.version
    print_table(
        "Controls that are not drawn", ["control", "median", "server's own", "slowest", "first", "target", ""], rows
    )
    print(f"{machine()}, Chromium {version}, 1440×900.")
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")


def _row_of(browser: Browser, watch: Watch, app: App, control: Control, turns: int) -> list[str]:
    """Of a control that cannot be operated or never answers, its row says that: the others have theirs all the same."""
    try:
        return _row(control, *_measured(browser, watch, app, control, turns))
    except PlaywrightError as error:
        print(f"  {control.what}: {error.message}", file=sys.stderr)
        return [control.what, *["–"] * 4, str(ANSWER), "NO ANSWER"]


def _row(control: Control, first: list[float], times: list[float], own: list[float]) -> list[str]:
    middle = median(times)
    shown = [f"{one:.0f} ms" for one in (middle, median(own), max(times), max(first))]
    return [control.what, *shown, str(ANSWER), ANSWER.verdict(middle)]


def _measured(
    browser: Browser, watch: Watch, app: App, control: Control, turns: int
) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds of the first look at each place, of the turns after that, and of the server's own in these."""
    server = psutil.Process(app.process.pid)
    times, own = list[float](), list[float]()
    with opened_page(browser, watch) as page:
        app.open(page, control.address)
        page.locator(".model-strip[data-painted]").first.wait_for(timeout=START)
        settle(page)
        if "." in control.key:
            page.locator(control.key).first.wait_for(state="attached")
        places = _places(page, control)
        for turn in range(1, places + turns + 1):
            before = sum(server.cpu_times()[:2])
            times.append(_turn(page, control, turn, places))
            own.append(1000 * (sum(server.cpu_times()[:2]) - before))
    print(f"  {control.what}: {[round(ms) for ms in times]}, own {[round(ms) for ms in own]}", file=sys.stderr)
    return times[:places], times[places:], own[places:]


def _places(page: Page, control: Control) -> int:
    """How many there are to go round."""
    if control.kind == "segments":
        segments = page.locator(f".st-key-{control.key} [role=radio]")
        segments.first.wait_for(timeout=START)
        return segments.count()
    return {"list": 2, "switch": 2, "canvas": 4, "rows": 4, "range": 2}.get(
        control.kind, page.locator(control.key).count() if "." in control.key else 2
    )


def _turn(page: Page, control: Control, turn: int, places: int) -> float:
    """One input, and how long it took."""
    settle(page)
    target = page.locator(f".st-key-{control.key}")
    if control.kind == "list":
        target.locator("input").click()
        page.keyboard.press("ArrowDown" if turn % 2 else "ArrowUp")
        page.wait_for_timeout(200)
    page.evaluate(ARM, [control.own, PICTURES in control.own])
    if control.kind == "list":
        page.keyboard.press("Enter")
    elif control.kind == "segments":
        target.locator("[role=radio]").nth(turn % places).click()
    elif control.kind == "switch":
        target.locator("label").click()
    elif control.kind == "slider":
        slide = target.locator("input[type=range]")
        slide.focus()
        at_its_end = slide.evaluate("one => one.value === one.max")
        page.keyboard.press("ArrowLeft" if at_its_end or not turn % 2 else "ArrowRight")
    elif control.kind == "range":
        page.locator(control.key).first.focus()
        page.keyboard.press("ArrowLeft" if turn % 2 else "ArrowRight")  # of tokens read, all are at first
    elif control.kind == "button":
        page.locator(control.key).nth(turn % places).click()
    else:
        box = page.locator(control.key).first.bounding_box() or {"x": 0, "y": 0, "width": 0, "height": 0}
        along, middle = 0.3 + 0.1 * (turn % places), 0.5
        x, y = (along, middle) if control.kind == "canvas" else (middle, along)
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
    return float(page.evaluate("answer"))


if __name__ == "__main__":
    main()
