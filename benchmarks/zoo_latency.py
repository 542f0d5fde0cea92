"""How long does a parameter of a variant of softmax take to appear, on the head and in the model? A real Chromium.

    python -m benchmarks.zoo_latency [--changes 5] [--only nystrom,titans] [--where all]

On the page Zoo, with a text of 128 tokens and the embedded model. On the head: each variant is changed by its own
slider or, if it has none, selected anew; the time runs from the key press to the frame with its map. In the model: the
same in one head, its layer and all layers, with parameters that are not cached, so that the time includes the forward,
its check and the comparison; a variant without parameters is computed once, and cached after that. FlashAttention is
left out: whatever its tiles, its map is softmax's, and nothing is repainted.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median
from urllib.parse import urlencode

from playwright.sync_api import Page

from attention.zoo.table import VARIANTS
from attention.zoo.variant import Variant
from benchmarks._app import App, opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks._table import Target, machine, print_table
from tests.browser import Watch

NUMBER, CHANGE = Target(300, " ms"), Target(500, " ms")
WARM = 2  # changes that are not counted
SLOWEST = 4  # variants that are named
TEXT = "the cat sat. " * 31 + "the cat sat"  # 128 tokens
WHERES = {"head": "one head", "layer": "one layer", "all": "all layers"}
ARM = """() => {
  const map = () => [...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot
    ? [...one.shadowRoot.querySelectorAll(".head-map")] : [])[1]
  const before = map()?.dataset.painted
  let began = 0
  addEventListener("keydown", (event) => (began ||= event.timeStamp), { capture: true, once: true })
  window.seen = new Promise((resolve, refuse) => {
    setTimeout(() => refuse(new Error("no new map")), 30000)
    const look = () => {
      const now = map()?.dataset.painted
      if (began && now !== undefined && now !== before) resolve(performance.now() - began)
      else requestAnimationFrame(look)
    }
    look()
  })
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=5, help="changes of each variant, after two to warm up")
    parser.add_argument("--only", default="", help="names of variants; all of them without")
    parser.add_argument("--where", choices=WHERES, help="in the model, here alone; without, on the head and everywhere")
    options = parser.parse_args()
    drawn = [one for one in VARIANTS if one.name != "flash"]
    chosen = [one for one in drawn if not options.only or one.name in options.only.split(",")]
    watch = Watch()
    with chromium() as browser:
        with running_app(watch) as app, opened_page(browser, watch) as page:
            app.open(page)
            page.evaluate("probe.opened('heads')")
            heads = [] if options.where else chosen
            on_head = {one.name: _times(page, app, one, options.changes, "maps") for one in heads}
            in_model = {
                where: {one.name: _times(page, app, one, options.changes, "model", where) for one in chosen}
                for where in ([options.where] if options.where else WHERES)
            }
        version = browser.version
    rows = _rows("on the head: a number → its map painted", on_head, NUMBER) if on_head else []
    for where, found in in_model.items():
        rows += _rows(f"in the model, {WHERES[where]}: another number → its map painted", found, CHANGE)
    print_table("The zoo, 128 tokens", ["what", "measured", "slowest", "target", ""], rows)
    print(f"{machine()}, Chromium {version}, 1440×900.")
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")


def _rows(what: str, found: dict[str, list[float]], target: Target) -> list[list[str]]:
    """All variants together, then the slowest ones."""
    rows = [_row(f"{what}, all variants", [one for times in found.values() for one in times], target)]
    slowest = sorted(found, key=lambda name: -median(found[name]))[:SLOWEST]
    return rows + [_row(f"– {name}", found[name], target) for name in slowest]


def _row(what: str, times: list[float], target: Target) -> list[str]:
    middle = median(times)
    return [f"{what}, median of {len(times)}", f"{middle:.0f} ms", f"{max(times):.0f} ms", str(target),
            target.verdict(middle)]  # fmt: skip  # one row of the table


def _times(page: Page, app: App, variant: Variant, count: int, view: str, where: str = "head") -> list[float]:
    """Milliseconds of each change by keyboard: of the variant's first slider or, if it has none, of the list."""
    named = {"zoo.view": view, "zoo.where": where, "zoo.variant": variant.name, "layer": 3, "head": 1, "text": TEXT}
    page.goto(f"http://127.0.0.1:{app.port}/zoo?{urlencode(named)}")
    page.locator(".head-map[data-painted]").nth(1).wait_for()
    found: list[float] = []
    for turn in range(count + WARM):
        settle(page)
        if variant.parameters:
            page.locator(f"[class*='st-key-zoo-values-{variant.name}-'] input[type=range]").first.focus()
            key = "ArrowRight"
        else:
            key = _towards(page, variant, away=turn % 2 == 0)
        page.evaluate(ARM)
        page.keyboard.press(key)
        took = page.evaluate("seen")
        if turn >= WARM and (variant.parameters or turn % 2):
            found.append(took)
    print(f"  {view} {where} {variant.name}: {[round(ms) for ms in found]}", file=sys.stderr)
    return found


def _towards(page: Page, variant: Variant, *, away: bool) -> str:
    """Open the list of variants and move to the one before this one, or back; returns the key that selects it."""
    page.locator(".st-key-zoo-variant input").click()
    first = VARIANTS[0].name == variant.name
    page.keyboard.press("ArrowDown" if away == first else "ArrowUp")
    page.wait_for_timeout(200)
    return "Enter"


if __name__ == "__main__":
    main()
