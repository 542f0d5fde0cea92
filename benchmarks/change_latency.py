"""How long does a change of the model take to appear? The app in a fresh process, a real Chromium.

    python -m benchmarks.change_latency [--changes 15]

The time runs from the choice of another change of the forward, which is not cached, to the frame with its map, and
includes the forward under the edit, its check and the comparison. All variants of the zoo are tried in turn, in every
head of a text of 128 tokens. For an edited head, the time ends when everything is shown: both maps, the next tokens,
how far every head moved, and the text continued greedily.
"""

from __future__ import annotations

import argparse
import json
import sys
from statistics import median

from playwright.sync_api import Browser, Page

from benchmarks._app import App, opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks._table import Target, machine, print_table
from tests.browser import Watch

CHANGE = Target(500, " ms")
ARM = """() => {
  const map = () => [...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot
    ? [...one.shadowRoot.querySelectorAll(".head-map")] : [])[1]
  const before = map()?.dataset.painted
  let began = 0
  addEventListener("keydown", (event) => event.key === "Enter" && (began = event.timeStamp), { capture: true })
  window.seen = new Promise((resolve) => {
    const look = () => {
      const now = map()?.dataset.painted
      if (began && now !== undefined && now !== before) resolve(performance.now() - began)
      else requestAnimationFrame(look)
    }
    look()
  })
}"""
ARM_EDIT = """() => {
  const map = () => [...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot
    ? [...one.shadowRoot.querySelectorAll(".head-map")] : [])[1]
  const still = () => document.querySelector("[data-testid=stApp][data-test-script-state=notRunning]")
  const before = map()?.dataset.painted
  let began = 0
  addEventListener("pointerup", (event) => (began ||= event.timeStamp), { capture: true })
  window.seen = new Promise((resolve) => {
    const look = () => {
      const now = map()?.dataset.painted
      if (began && now !== undefined && now !== before && still()) {
        requestAnimationFrame(() => resolve(performance.now() - began))
      } else requestAnimationFrame(look)
    }
    look()
  })
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=15, help="changes, after two to warm up")
    options = parser.parse_args()
    watch = Watch()
    with chromium() as browser:
        with running_app(watch) as app:
            measured = {
                "another rotation → painted": _changes(browser, watch, app, options.changes),
                "a variant in the place of every softmax → painted": _substitutions(
                    browser, watch, app, options.changes
                ),
                "one cell of a head hidden → everything painted": _edits(browser, watch, app, options.changes),
            }
        version = browser.version
    rows = [
        [
            f"{what}, median of {len(times)}", f"{median(times):.0f} ms", f"{max(times):.0f} ms",
            str(CHANGE), CHANGE.verdict(median(times)),
        ]
        for what, times in measured.items()
    ]  # fmt: skip
    print_table("A changed model", ["what", "measured", "slowest", "target", ""], rows)
    print(f"{machine()}, Chromium {version}, 1440×900.")
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")


def _changes(browser: Browser, watch: Watch, app: App, count: int) -> list[float]:
    """Milliseconds of each change: positions restart at another token of a text that was not captured before."""
    found: list[float] = []
    with opened_page(browser, watch) as page:
        app.open(page)
        page.evaluate("probe.opened('heads')")
        page.goto(f"http://127.0.0.1:{app.port}/positions?positions=what_if&what_if=restart&text={'the cat sat. ' * 8}")
        page.locator(".head-map[data-painted]").nth(1).wait_for()
        for turn in range(count + 2):
            settle(page)
            _choose_another(page, "positions-restart")
            page.evaluate(ARM)
            page.keyboard.press("Enter")
            took = page.evaluate("seen")
            if turn >= 2:
                found.append(took)
    print(f"  changes: {[round(ms) for ms in found]}", file=sys.stderr)
    return found


def _substitutions(browser: Browser, watch: Watch, app: App, count: int) -> list[float]:
    """Milliseconds of each variant of the zoo that replaces softmax in every head, for a text of 128 tokens."""
    found: list[float] = []
    with opened_page(browser, watch) as page:
        app.open(page)
        page.evaluate("probe.opened('heads')")
        text = "the cat sat. " * 31 + "the cat sat"
        page.goto(f"http://127.0.0.1:{app.port}/zoo?zoo.view=model&zoo.where=all&text={text}")
        page.locator(".head-map[data-painted]").nth(1).wait_for()
        for turn in range(count + 2):
            settle(page)
            _choose_another(page, "zoo-variant")
            page.evaluate(ARM)
            page.keyboard.press("Enter")
            took = page.evaluate("seen")
            if turn >= 2:
                found.append(took)
    print(f"  variants: {[round(ms) for ms in found]}", file=sys.stderr)
    return found


def _edits(browser: Browser, watch: Watch, app: App, count: int) -> list[float]:
    """Milliseconds of each click that hides one more cell of the open head."""
    found: list[float] = []
    text = "the cat sat. " * 8
    with opened_page(browser, watch) as page:
        app.open(page)
        page.evaluate("probe.opened('heads')")
        page.goto(f"http://127.0.0.1:{app.port}/edit_heads?edit=block&layer=3&head=1&text={text}")
        page.locator(".head-map[data-painted]").nth(1).wait_for()
        left = page.locator(".head-map").first
        for turn in range(count + 2):
            settle(page)
            at = json.loads(left.get_attribute("data-geometry") or "{}")
            q0, q1, *_ = map(float, (left.get_attribute("data-view") or "").split(","))
            size = at["height"] / (q1 - q0)
            page.evaluate(ARM_EDIT)
            left.locator("canvas").first.click(position={"x": at["x"] + 1.5 * size, "y": at["y"] + (turn + 4.5) * size})
            took = page.evaluate("seen")
            if turn >= 2:
                found.append(took)
    print(f"  edits: {[round(ms) for ms in found]}", file=sys.stderr)
    return found


def _choose_another(page: Page, name: str) -> None:
    """Open the list of this name and move down by one, up to the key that selects it."""
    box = page.locator(f".st-key-{name} input")
    box.click()
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(200)


if __name__ == "__main__":
    main()
