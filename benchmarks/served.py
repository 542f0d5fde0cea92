"""What a model at a server costs more than one in this process: captures, heads, tokens, bytes, clicks, memory.

    python -m benchmarks.served [--repeats 7]      what a runner is asked
    python -m benchmarks.served --painted 21       clicks in Chromium, from the mouse to the painted map
    python -m benchmarks.served --readers 10       fifty readers at once, so many seconds three times
    python -m benchmarks.served --memory           of each part

The server is a separate process on this machine, so that nothing of a network is measured except the calls. Every pair
of numbers was measured in turns; medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import uvicorn

from analysis.head_grid import head_grid
from analysis.head_map import head_map
from analysis.long_blocks import block, blocks_of
from analysis.long_map import Spot, Tiling
from benchmarks._llama import N_HEADS, random_llama, text, word_tokenizer
from benchmarks._many_readers import HEAD as READERS_HEAD
from benchmarks._many_readers import READERS, many_readers
from benchmarks._memory_of_parts import HEAD as MEMORY_HEAD
from benchmarks._memory_of_parts import memory_of_parts
from benchmarks._model_server import answers, model_server
from benchmarks._painted_clicks import painted_clicks
from benchmarks._table import Target, machine, print_table
from jobs.head_tiles import head_tiles
from model_runner import Capture, CaptureRequest, GenerateRequest, load_runner
from model_runner.local.runner import LocalRunner
from model_runner.remote.runner import RemoteRunner
from served.serve import config
from tests.served.server import KEY, TheseModels, free_port, remote, settings

NAMES = ("default", "llama")
TOKENS = (128, 1024)
LONG = 4096  # tokens of the random Llama, which is only captured, a few times
FEW = 3
GENERATED = 32
CAPTURE, CLICK, TOKEN = Target(1.15, " ×"), Target(1.5, " ×"), Target(20, " ms")
WORD = "the dog sat because it was late and then "


def build(name: str) -> LocalRunner:
    """The embedded model, or a random Llama of GPT-2's size."""
    if name == "default":
        return load_runner("default", device="cpu")
    return LocalRunner(random_llama(longest=LONG), word_tokenizer(LONG), name=name, device="cpu")


def serve(port: int) -> None:
    """Serve until this process is ended."""
    models = TheseModels({name: build(name) for name in NAMES})
    uvicorn.Server(config(settings(NAMES, port=port, text=10_000_000), models, log_level="error")).run()


def written(runner: Any, name: str, n_tokens: int, seed: int) -> str:
    """A text of about so many tokens."""
    if name == "llama":
        return text(n_tokens, seed)
    whole = f"{seed} " + WORD * n_tokens
    share = n_tokens / len(runner.ids_of(whole))
    return whole[: int(len(whole) * share)]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and the result."""
    began = time.perf_counter()
    made = work()
    return time.perf_counter() - began, made


class Bench:
    """One model, locally and on the server; each number is a pair (here, there)."""

    def __init__(self, name: str, own: LocalRunner, far: RemoteRunner, repeats: int) -> None:
        self.name, self.own, self.far, self.repeats = name, own, far, repeats
        self.seed = 0

    def in_turns(
        self, here: Callable[[int], float], there: Callable[[int], float], repeats: int = 0
    ) -> tuple[float, float]:
        """The median of either, over ``repeats`` turns, or as many as there are."""
        pairs = []
        for turn in range((repeats or self.repeats) + 1):
            self.seed += 1
            first, second = (here, there) if turn % 2 else (there, here)
            found = {one: one(self.seed) for one in (first, second)}
            pairs.append((found[here], found[there]))
        return tuple(statistics.median(column) for column in zip(*pairs[1:], strict=True))  # the first one warms up

    def captures(self, n_tokens: int, repeats: int = 0) -> tuple[float, float, float]:
        """Seconds here and there, and bytes of an outline."""
        before = self.far.link.bytes_in

        def of(runner: Any) -> Callable[[int], float]:
            return lambda seed: timed(lambda: runner.capture(written(self.own, self.name, n_tokens, seed)))[0]

        pair = self.in_turns(of(self.own), of(self.far), repeats)
        return *pair, (self.far.link.bytes_in - before) / ((repeats or self.repeats) + 1)

    def clicks(self, n_tokens: int, look: Callable[[Capture, int], Any]) -> tuple[float, float, float]:
        """Seconds here and there, and bytes, for a different layer and head of a cached capture each time."""
        self.seed += 1
        request = CaptureRequest(written(self.own, self.name, n_tokens, 10_000 + self.seed))
        here, there = self.own.capture(request), self.far.capture(request)
        before = self.far.link.bytes_in
        pair = self.in_turns(lambda at: timed(lambda: look(here, at))[0], lambda at: timed(lambda: look(there, at))[0])
        return *pair, (self.far.link.bytes_in - before) / (self.repeats + 1)

    def tokens(self, n_tokens: int) -> tuple[float, float, float]:
        """Seconds per token here and there, and bytes per token."""
        sizes = list[float]()

        def of(runner: Any) -> Callable[[int], float]:
            def run(seed: int) -> float:
                asked = GenerateRequest(written(self.own, self.name, n_tokens, 20_000 + seed), GENERATED)
                steps = runner.generate(asked)
                next(steps)
                before = self.far.link.bytes_in
                seconds, count = timed(lambda: sum(1 for _ in steps))
                sizes.append((self.far.link.bytes_in - before) / max(count, 1))
                return seconds / max(count, 1)

            return run

        pair = self.in_turns(of(self.own), of(self.far))
        return *pair, max(sizes)


def open_head(capture: Capture, at: int) -> Any:
    """A click on a head of another layer: the layer is checked and the head's map drawn."""
    layer = at % capture.n_layers
    capture.verify(layer)
    return head_map(capture, layer, at % N_HEADS % capture.n_heads)


def same_layer(capture: Capture, at: int) -> Any:
    """A click on another head of the layer that is open."""
    return head_map(capture, 0, at % capture.n_heads)


def tile(capture: Capture, at: int) -> Any:
    """The first tile of a head that was not opened yet, showing all of the text, as a browser gets it."""
    return head_tiles(capture).packed(at % capture.n_layers, at % N_HEADS % capture.n_heads, Spot(0, 0, 0))


def cells(capture: Capture, at: int) -> Any:
    """The last tile on the diagonal, with single cells."""
    tiling = Tiling(len(capture.tokens))
    last = tiling.tiles(tiling.last) - 1
    spot = Spot(tiling.last, last, last)
    return head_tiles(capture).packed(at % capture.n_layers, at % N_HEADS % capture.n_heads, spot)


def small_maps(capture: Capture, at: int) -> Any:
    """Every head of a layer of a long text, as thumbnails."""
    return [block(capture, rows) for rows in blocks_of(capture) if rows.layer == at % capture.n_layers]


def page_runs(n_tokens: int, runs: int) -> float:
    """Median seconds of a run of the page Heads for another head of a cached text."""
    from tests.ui.driving import open_app  # this imports the app

    words = (WORD * n_tokens)[: 4 * n_tokens]
    times = [
        timed(lambda at=at: open_app(text=words, layer=str(at % 8), head=str(at % 8)))[0] for at in range(runs + 2)
    ]
    return statistics.median(times[2:])


def pages(url: str, n_tokens: int, repeats: int) -> tuple[float, float]:
    """The same with the model here and on the server, in separate processes, in turns."""
    found: dict[str, list[float]] = {"": [], url: []}
    for server in (("", url), (url, ""), ("", url)):
        for one in server:
            told = {"ATLAS_RUNNER": one, "ATLAS_RUNNER_KEY": KEY}
            command = [sys.executable, "-m", "benchmarks.served", "--page", str(n_tokens), "--repeats", str(repeats)]
            done = subprocess.run(command, env={**os.environ, **told}, capture_output=True, text=True, check=True)
            found[one].append(float(done.stdout.split()[-1]))
    return statistics.median(found[""]), statistics.median(found[url])


def row(what: str, here: float, there: float, target: str, verdict: str, n_bytes: float | None = None) -> list[str]:
    """One line of the table."""
    size = "" if n_bytes is None else f"{n_bytes / 1000:,.1f} kB"
    return [what, f"{1000 * here:.1f} ms", f"{1000 * there:.1f} ms", f"{there / here:.2f} ×", target, verdict, size]


def measured(bench: Bench) -> list[list[str]]:
    """The rows of one model."""
    rows = []
    for n_tokens in TOKENS:
        here, there, n_bytes = bench.captures(n_tokens)
        goal = (str(CAPTURE), CAPTURE.verdict(there / here)) if n_tokens >= 1024 else ("", "")
        rows.append(row(f"capture, {n_tokens} tokens", here, there, *goal, n_bytes))
        for words, look in (("a head of another layer", open_head), ("another head of the layer", same_layer)):
            here, there, n_bytes = bench.clicks(n_tokens, look)
            verdict = CLICK.verdict(there / here)
            rows.append(row(f"{words}, {n_tokens} tokens", here, there, str(CLICK), verdict, n_bytes))
    if bench.name == "llama":
        here, there, n_bytes = bench.captures(LONG, FEW)
        rows.append(row(f"capture, {LONG} tokens", here, there, str(CAPTURE), CAPTURE.verdict(there / here), n_bytes))
    for words, look in (
        ("a tile of all of a head", tile),
        ("a tile of cells", cells),
        ("a layer in small", small_maps),
    ):
        here, there, n_bytes = bench.clicks(TOKENS[1], look)
        rows.append(row(f"{words}, {TOKENS[1]} tokens", here, there, "", "", n_bytes))
    here, there, n_bytes = bench.clicks(TOKENS[0], lambda capture, _: head_grid(capture))
    rows.append(row(f"every head, {TOKENS[0]} tokens", here, there, "", "", n_bytes))
    here, there, n_bytes = bench.tokens(TOKENS[0])
    rows.append(row("a token more", here, there, f"+{TOKEN.most:g} ms", TOKEN.verdict(1000 * (there - here)), n_bytes))
    return rows


HEAD = ("", "here", "at a server", "", "target", "", "received")


def asked_rows(repeats: int) -> None:
    """Questions to a runner: for the embedded model, then for a random Llama."""
    port = free_port()
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.served", "--serve", str(port)])
    try:
        url = f"http://127.0.0.1:{port}"
        while not answers(url):
            time.sleep(0.2)
        for name in NAMES:
            bench = Bench(name, build(name), remote(url, name), repeats)
            rows = measured(bench)
            if name == "default":
                here, there = pages(url, TOKENS[0], repeats)
                what = f"the page Heads on another head, {TOKENS[0]} tokens"
                rows.append(row(what, here, there, str(CLICK), CLICK.verdict(there / here)))
            print_table(f"{name}: {bench.own.info.n_layers} layers, {bench.own.info.n_heads} heads", HEAD, rows)
    finally:
        server.terminate()
        server.wait(20)


def painted_rows(count: int) -> None:
    """A user's clicks, with the embedded model."""
    with model_server("1 GB") as server:
        found = painted_clicks(server.url, server.key, TOKENS, count)
    rows = [
        row(f"click → another head's map, {n} tokens", *pair, str(CLICK), CLICK.verdict(pair[1] / pair[0]))
        for n, pair in found.items()
    ]
    print_table("Clicks until the map is painted", HEAD, rows)


def main() -> None:
    """Measure what was selected, and print it with the load of the machine before and after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, choices=range(1, 8), help="no head is opened twice")
    parser.add_argument("--painted", type=int, default=0, help="so many clicks in Chromium, at each length")
    parser.add_argument("--readers", type=float, default=0, help="so many seconds of fifty readers, three times")
    parser.add_argument("--memory", action="store_true", help="of each part")
    parser.add_argument("--serve", type=int, default=0, help="be the server, on this port")
    parser.add_argument("--page", type=int, default=0, help="compute the page Heads on so many tokens, print how long")
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve)
    elif asked.page:
        print(page_runs(asked.page, asked.repeats))
    else:
        before = os.getloadavg()[0]
        if asked.painted:
            painted_rows(asked.painted)
        elif asked.readers:
            print_table(f"{READERS} readers at once", READERS_HEAD, many_readers(asked.readers))
        elif asked.memory:
            print_table("Memory", MEMORY_HEAD, memory_of_parts())
        else:
            asked_rows(asked.repeats)
        print(f"{machine()}, load {before:.0f} before and {os.getloadavg()[0]:.0f} after.")


if __name__ == "__main__":
    main()
