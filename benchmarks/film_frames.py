"""Does the film keep up with its viewer? The app in a fresh process, a real Chromium, times taken inside the page.

    python -m benchmarks.film_frames [--steps 21] [--seconds 4]

Step: from the click to the end of the frame that shows the next token, both after a pause, when it has been prepared
meanwhile, and click upon click, when it has not. Play: tokens shown per second at the fastest setting, for a film that
is still being generated.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median

from benchmarks._app import opened_page, running_app
from benchmarks._chromium import chromium
from benchmarks._table import Target, machine, print_table
from model_runner import GenerateRequest, Sampling, load_runner
from tests.browser import Watch
from ui.state.url_state import DEFAULT_TEXT

LENGTH = 150
STEP, RATE = Target(200, " ms"), 8  # tokens a second
PAUSE = 300  # ms between two steps, since a user looks
STEPS = """async ([count, pause]) => {
  const root = probe.find(".film")
  const times = []
  for (let i = 0; i < count; i++) {
    const [before, began] = [root.dataset.frame, performance.now()]
    root.querySelector(".step").click()
    while (root.dataset.frame === before) await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    times.push(performance.now() - began)
    await new Promise((done) => setTimeout(done, pause))
  }
  return times
}"""
PLAY = """async (milliseconds) => {
  const root = probe.find(".film")
  const speed = root.querySelector(".speed")
  speed.value = "30"
  speed.dispatchEvent(new Event("change", { bubbles: true }))
  root.querySelector(".play").click()
  const [first, began] = [Number(root.dataset.frame), performance.now()]
  await new Promise((done) => setTimeout(done, milliseconds))
  return (1000 * (Number(root.dataset.frame) - first)) / (performance.now() - began)
}"""


def _long_film() -> int:
    """A seed with which the embedded model does not end its text before ``LENGTH`` tokens."""
    runner = load_runner("default")
    for seed in range(200):
        request = GenerateRequest(DEFAULT_TEXT, LENGTH, Sampling(seed=seed))
        if sum(1 for _ in runner.generate(request)) == LENGTH:
            return seed
    sys.exit("With every seed the model ends its text early.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=21, help="clicks on the step button, after two to warm up")
    parser.add_argument("--seconds", type=float, default=4, help="how long the film plays")
    options = parser.parse_args()
    watch = Watch()
    with chromium() as browser:
        with running_app(watch) as app, opened_page(browser, watch) as page:
            app.open(page)
            page.evaluate("probe.opened('heads')")
            page.goto(f"http://127.0.0.1:{app.port}/film?length={LENGTH}&seed={_long_film()}")
            page.locator(".film[data-painted]").wait_for()
            page.wait_for_timeout(2000)
            steps, hasty = (page.evaluate(STEPS, [options.steps + 2, pause])[2:] for pause in (PAUSE, 0))
            rate = page.evaluate(PLAY, 1000 * options.seconds)
        version = browser.version
    verdict = "ok" if rate >= RATE else "NOT ok"
    rows = [
        [f"{what}, median of {len(times)}", f"{median(times):.0f} ms", f"{max(times):.0f} ms", str(STEP),
         STEP.verdict(median(times))]
        for what, times in (("one step → painted", steps), ("the same, click upon click", hasty))
    ]  # fmt: skip
    rows.append(["play at the fastest setting", f"{rate:.1f} tokens/s", "", f"≥ {RATE} tokens/s", verdict])
    print_table("The film", ["what", "measured", "slowest", "target", ""], rows)
    print(f"{machine()}, Chromium {version}, 1440×900.")
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")


if __name__ == "__main__":
    main()
