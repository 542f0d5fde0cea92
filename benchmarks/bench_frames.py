"""Does the whole Next-token page keep up with a hand on a slider? Frames a second with everything drawn.

    python -m benchmarks.bench_frames [--seconds 4]

The component alone in a real Chromium without a GPU, 1440 px wide: the slider gets a new value in every frame, and the
script counts the frames in which stages, bars and curve over the whole vocabulary were drawn. The computation alone is
measured by sampling_frames.py.
"""

from __future__ import annotations

import argparse

import torch
from playwright.sync_api import Page

from benchmarks._chromium import chromium
from benchmarks._table import machine, print_table
from tests.viz.components import shim
from tests.viz.components.test_sampling_bench import bench
from viz.components.sampling_bench.sampling_bench import SOURCE

SIZES = (50_257, 151_936)  # GPT-2's vocabulary and Qwen's
TARGET = 50  # frames a second
ON = {"top_k": 40_000, "top_p": 0.95, "min_p": 1e-5, "typical_p": 0.98, "repetition_penalty": 1.2}
DRAG = """async ([name, milliseconds]) => {
  const root = document.querySelector("section").shadowRoot.querySelector(".sampling-bench")
  const slider = root.querySelector(`[data-transform=${name}] input[type=range]`)
  const [low, high] = [Number(slider.min), Number(slider.max)]
  slider.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }))
  const frame = () => new Promise(requestAnimationFrame)
  const [start, before] = [await frame(), Number(root.dataset.painted)]
  let now = start
  for (let i = 0; now - start < milliseconds; i++) {
    slider.value = low + (high - low) * (0.35 + 0.25 * Math.sin(i / 20))
    slider.dispatchEvent(new Event("input", { bubbles: true }))
    now = await frame()
  }
  const painted = Number(root.dataset.painted) - before
  return [(1000 * painted) / (now - start), window.calls.length]
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4, help="how long each slider is dragged")
    options = parser.parse_args()
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        rows = [
            _row(page, size, which, settings, options.seconds)
            for size in SIZES
            for which, settings in (("temperature alone", {}), ("temperature, all on", ON))
        ]
        version = browser.version
    print_table("Dragging on the Next-token page", ["drag", "tokens", "frames/s", "sent", "target", ""], rows)
    print(f"{machine()}, Chromium {version}, 1440×900.")


def _row(page: Page, size: int, which: str, settings: dict[str, float], seconds: float) -> list[str]:
    logits = 3 * torch.randn(size, generator=torch.Generator().manual_seed(0))
    labels = [f"·token{i}" for i in range(size)]
    page.set_content(shim.page((SOURCE, bench(logits.numpy(), labels, a=settings, previous=(1, 5, 9)))))
    page.wait_for_function("window.ready")
    page.wait_for_selector("[data-painted]")
    page.evaluate(DRAG, ["temperature", 500])  # to warm up
    rate, sent = page.evaluate(DRAG, ["temperature", 1000 * seconds])
    verdict = "ok" if rate >= TARGET and sent == 0 else "NOT ok"
    return [which, f"{size:,}", f"{rate:.0f}", str(sent), f"≥ {TARGET}, 0 sent", verdict]


if __name__ == "__main__":
    main()
