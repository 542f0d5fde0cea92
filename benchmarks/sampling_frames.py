"""Does the distribution keep up with a hand on a slider? Frames a second in a real Chromium, over the whole vocabulary.

    python -m benchmarks.sampling_frames [--frames 240]

One requestAnimationFrame loop for each row: every frame moves one setting, computes all stages and reads the final
distribution, as the Next token page does. The screen gives at most its own rate, 60 frames a second; the time of one
computation says what is left of a frame. The random logits have few bits, as those of a bfloat16 model.
"""

from __future__ import annotations

import argparse
import base64
import json
from pathlib import Path
from statistics import median

import numpy as np
import torch
from playwright.sync_api import Page

import viz.components
from benchmarks._chromium import chromium
from benchmarks._table import machine, print_table
from model_runner.transforms import TRANSFORMS
from viz.components.source import one_module

STAGES = Path(viz.components.__file__ or "").parent / "sampling_bench" / "stages.js"
SIZES = (50_257, 151_936)  # GPT-2's vocabulary and Qwen's
LEAST = 50  # frames a second
DRAGS = {  # what each frame of the drag sets, t from 0 to 1
    "temperature": "{ temperature: 0.3 + 1.4 * t }",
    "top-p": "{ top_p: 0.6 + 0.39 * t }",
    "repetition penalty": "{ repetition_penalty: 1.01 + t }",
}
DRAG = """([count, change]) => new Promise((resolve) => {
  const move = new Function("t", `return (${change})`)
  const [memory, starts, spent] = [{}, [], []]
  const frame = (now) => {
    starts.push(now)
    if (starts.length > count) return resolve([starts, spent])
    const began = performance.now()
    const t = (1 - Math.cos((starts.length / count) * 2 * Math.PI)) / 2 // there and back
    const stages = computeStages(logits, { ...settings, ...move(t) }, previous, transforms, memory)
    window.seen = stages.at(-1).probabilities[0]
    spent.push(performance.now() - began)
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
})"""
SETTINGS = """
const settings = {
  temperature: 0.9, top_k: 100000, top_p: 0.999, min_p: 1e-7, typical_p: 0.98, repetition_penalty: 1.2,
  order: ["repetition_penalty", "temperature", "top_k", "top_p", "min_p", "typical_p"],
}
const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer)
let [logits, previous] = [null, Int32Array.from({ length: 500 }, (_, i) => 97 * i)]
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=240, help="frames of each drag")
    options = parser.parse_args()
    with chromium() as browser:
        page = browser.new_page()
        page.set_content("<!doctype html><title>stages</title>")
        table = json.dumps({name: row.described(max(SIZES)) for name, row in TRANSFORMS.items()})
        page.add_script_tag(content=f"{one_module(STAGES)}\nconst transforms = {table}\n{SETTINGS}")
        rows = [_row(page, n_tokens, name, options.frames) for n_tokens in SIZES for name in DRAGS]
        version = browser.version
    head = ["drag, all six transforms on", "tokens", "frames/s", "target", "", "one computation", "95th percentile"]
    print_table(f"Sampling in the browser, {options.frames} frames each", head, rows)
    print(f"{machine()}, Chromium {version}.")


def _row(page: Page, n_tokens: int, name: str, count: int) -> list[str]:
    logits = 3 * torch.randn(n_tokens, generator=torch.Generator().manual_seed(0)).bfloat16().float()
    text = base64.b64encode(logits.numpy().astype(np.float32).tobytes()).decode()
    page.evaluate("text => { logits = floats(text) }", text)
    page.evaluate(DRAG, [20, DRAGS[name]])  # to warm up
    starts, spent = page.evaluate(DRAG, [count, DRAGS[name]])
    rate = 1000 * (len(starts) - 1) / (starts[-1] - starts[0])
    verdict = "ok" if rate >= LEAST else "NOT ok"
    slow = sorted(spent)[-1 - len(spent) // 20]
    return [name, f"{n_tokens:,}", f"{rate:.0f}", f"≥ {LEAST}", verdict, f"{median(spent):.1f} ms", f"{slow:.1f} ms"]


if __name__ == "__main__":
    main()
