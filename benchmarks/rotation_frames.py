"""Does the page Positions turn its dials as fast as the screen? Frames a second while the slider is dragged.

    python -m benchmarks.rotation_frames [--seconds 3]

The component alone in a real Chromium, 1440 px wide, for heads of 16 to 128 pairs: the slider gets a new position in
every frame, and the script counts the frames in which all dials were drawn. The embedded model has 16 pairs.
"""

from __future__ import annotations

import argparse

from playwright.sync_api import Page

from benchmarks._chromium import chromium
from benchmarks._table import machine, print_table
from tests.viz.components import made_positions, shim
from viz.components.rotation.rotation import SOURCE

PAIRS = (16, 32, 64, 128)
TARGET = 50  # frames a second
DRAG = """async (milliseconds) => {
  const root = document.querySelector("section").shadowRoot.querySelector(".rotation")
  const slider = root.querySelector(".slider")
  slider.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }))
  const frame = () => new Promise(requestAnimationFrame)
  const [start, before] = [await frame(), Number(root.dataset.painted)]
  let [now, last] = [start, start]
  const gaps = []
  for (let i = 0; now - start < milliseconds; i++) {
    slider.value = i % 64
    slider.dispatchEvent(new Event("input", { bubbles: true }))
    now = await frame()
    gaps.push(now - last)
    last = now
  }
  const painted = Number(root.dataset.painted) - before
  gaps.sort((a, b) => a - b)
  const [median, slowest] = [gaps[gaps.length >> 1], gaps.at(-1)]
  return { rate: (1000 * painted) / (now - start), median, slowest, sent: window.calls.length }
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="how long each slider is dragged")
    options = parser.parse_args()
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        rows = [_row(page, n_pairs, options.seconds) for n_pairs in PAIRS]
        version = browser.version
    print_table("Dragging the position", ["pairs", "frames/s", "median frame", "slowest", "sent", "target", ""], rows)
    print(f"{machine()}, Chromium {version}, 1440×900.")


def _row(page: Page, n_pairs: int, seconds: float) -> list[str]:
    page.set_content(shim.page((SOURCE, made_positions.turning(n_pairs))))
    page.wait_for_function("window.ready")
    page.wait_for_selector("[data-painted]")
    page.evaluate(DRAG, 500)  # to warm up
    found = page.evaluate(DRAG, 1000 * seconds)
    verdict = "ok" if found["rate"] >= TARGET and found["sent"] == 0 else "NOT ok"
    times = [f"{found[name]:.0f} ms" for name in ("median", "slowest")]
    return [str(n_pairs), f"{found['rate']:.0f}", *times, str(found["sent"]), f"≥ {TARGET}, 0 sent", verdict]


if __name__ == "__main__":
    main()
