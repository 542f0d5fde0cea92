"""Panning the page Long texts in a real Chromium: from a move to missing tiles until all of them are painted.

There are two texts: half a chapter on the embedded model, all of whose tiles fit into a browser's cache, and one of
8,192 tokens on a random Llama of two small layers, two fifths of whose map fit. What is measured is not the model's
computation but the waiting time of a user who pans: to make, send and draw tiles.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page

from analysis.long_text import chapter
from benchmarks._chromium import chromium
from benchmarks._table import Target, print_table
from tests.browser import running_app
from tests.model_runner.tiny import byte_tokenizer, tiny
from ui.state.text_in_url import parts_of

MOVES = 60  # each way
LONG = 8192  # tokens, each a byte
PAINTED, FRAMES = Target(200, " ms"), Target(1000 / 30, " ms")


@dataclass(frozen=True)
class Panned:
    """A text to open, and its name in the table."""

    name: str
    address: dict[str, str]


def painted() -> None:
    """Print two rows for each text: after drags by most of a screen, and after jumps to any other place."""
    rows: list[list[str]] = []
    place = Path(tempfile.mkdtemp())
    with running_app(place / "log.txt") as server, chromium() as browser:
        for one in _texts(place / "llama"):
            for way in ("dragged", "gone anywhere"):
                page = browser.new_page(viewport={"width": 1440, "height": 900})  # a new page has no tile yet
                page.goto(f"{server.url}/long_texts?{urlencode(one.address)}")
                rows.append([one.name, way, *_row(page, way)])
                page.close()
    shutil.rmtree(place)
    head = ["text", "view", "tokens", "moves with tiles missing", "→ all painted, median", "slowest"]
    head += [str(PAINTED), "moves without", "→ painted", "a frame while moving", str(FRAMES)]
    print_table(f"{MOVES} moves, single cells", head, rows, left=2)


def _texts(folder: Path) -> Iterator[Panned]:
    window = {"layer": "1", "head": "1", "window": "800-1000-100-300"}
    yield Panned("half a chapter, embedded", {**parts_of(chapter().half), **window})
    tiny("llama", num_hidden_layers=2, max_position_embeddings=LONG)().save_pretrained(folder)
    tokenizer = byte_tokenizer()
    tokenizer.model_max_length = LONG
    tokenizer.save_pretrained(folder)
    text = chapter().whole.encode()[:LONG].decode(errors="ignore")
    yield Panned("a chapter by bytes, random Llama", {"model": str(folder), **parts_of(text), **window})


def _row(page: Page, way: str) -> list[str]:
    root = page.locator(".long-map[data-missing='0']")
    root.wait_for(timeout=300_000)
    page.locator(".long-map [data-look]").first.wait_for(timeout=300_000)
    found = root.evaluate(PAN, {"moves": MOVES, "anywhere": way != "dragged"})
    missed, kept = sorted(found["missed"]), sorted(found["kept"])
    tile, frame = statistics.median(missed), statistics.median(found["frames"])
    at_once = f"{statistics.median(kept):.0f} ms" if kept else "–"
    return [
        f"{found['tokens']:,}", str(len(missed)), f"{tile:.0f} ms", f"{missed[-1]:.0f} ms", PAINTED.verdict(tile),
        str(len(kept)), at_once, f"{frame:.1f} ms", FRAMES.verdict(frame),
    ]  # fmt: skip  # a row


# Moves the view under the diagonal, row by row from the middle on or anywhere, and waits until nothing is missing:
# `missed` are the moves that lacked a tile, `kept` the others. Then a frame after each small move.
PAN = """async (root, { moves, anywhere }) => {
  const { act, meta } = root.atlas, frame = () => new Promise(requestAnimationFrame)
  const [missed, kept, frames] = [[], [], []]
  let seed = 1
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647
  const span = root.atlas.view.q1 - root.atlas.view.q0
  const look = (q, k) => {
    const inside = (at) => Math.min(Math.max(0, at), meta.tokens - span)
    act.look({ q0: inside(q), q1: inside(q) + span, k0: inside(k), k1: inside(k) + span })
  }
  let [q, k, on] = [meta.tokens / 2, 0, 0.8 * span]
  for (let i = 0; i < moves; i++) {
    if (anywhere) {
      q = random() * (meta.tokens - span)
      k = random() * q
    } else if (k + on < 0 || k + on > q) {
      q = (q + 0.8 * span) % (meta.tokens - span)
      on = -on
    } else k += on
    const began = performance.now()
    look(q, k)
    await frame() // in which what is missing is found
    const lacks = root.dataset.missing !== "0"
    while (root.dataset.missing !== "0") await frame()
    ;(lacks ? missed : kept).push(performance.now() - began)
  }
  let before = performance.now()
  for (let i = 0; i < 120; i++) {
    const { view } = root.atlas
    look(view.q0 + (i % 2 ? 1 : -1), view.k0 + (i % 2 ? 1 : -1))
    await frame()
    frames.push(performance.now() - before)
    before = performance.now()
  }
  return { missed, kept, frames, tokens: meta.tokens }
}"""
