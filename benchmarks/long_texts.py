"""What long texts cost on this machine: memory beyond the model, and the time from requesting a tile to its bytes.

A random Llama of GPT-2's size; the forward, one head's whole map, every head of one layer, and tiles of single cells as
a user who pans requests them. Drawing is measured in a browser: ``--painted`` pans the page over texts of two lengths
and counts the moves to missing tiles (_panning.py).

Run: python -m benchmarks.long_texts [--tokens 2048] [--layers 12] [--painted]
     (8192 tokens of all layers, 32768 of 2)
"""

from __future__ import annotations

import argparse
import gc
import statistics
import threading
import time

import psutil
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from analysis.long_blocks import block, blocks_of
from analysis.long_map import Tiling
from benchmarks._llama import D_MODEL, N_HEADS, VOCAB, text, word_tokenizer
from benchmarks._panning import painted
from benchmarks._table import Target, machine, print_table
from jobs.tile_server import TileServer
from jobs.tile_tickets import TileTickets
from model_runner import CaptureRequest
from model_runner.local.runner import LocalRunner

PANNED = 40  # tiles
MEMORY = Target(2.0, " GB")


class Peak:
    """The most memory of this process above its level at creation, sampled by a thread."""

    def __init__(self) -> None:
        gc.collect()
        self._process, self._going = psutil.Process(), True
        self.most = self._start = self._process.memory_info().rss
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while self._going:
            self.most = max(self.most, self._process.memory_info().rss)
            time.sleep(0.005)

    @property
    def above(self) -> float:
        """The peak so far, in GB."""
        return (self.most - self._start) / 1e9

    def stop(self) -> float:
        """Stop, and return the peak in GB."""
        self._going = False
        self._thread.join()
        return self.above


def runner_of(layers: int, tokens: int) -> LocalRunner:
    """A random Llama for so many tokens."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCAB, hidden_size=D_MODEL, intermediate_size=2048, num_hidden_layers=layers,
        num_attention_heads=N_HEADS, max_position_embeddings=tokens,
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval().requires_grad_(False)
    return LocalRunner(model, word_tokenizer(tokens), name="random llama")


def measure(tokens: int, layers: int) -> None:
    """Measure the server's side, one row per step."""
    runner = runner_of(layers, tokens)
    runner.capture(CaptureRequest(text=text(16)))  # for work that is only done once
    peak, rows = Peak(), list[list[str]]()

    def step(name: str, began: float) -> None:
        rows.append([name, f"{time.perf_counter() - began:.2f} s", f"{peak.above:.2f} GB"])

    began = time.perf_counter()
    capture = runner.capture(CaptureRequest(text=text(tokens)))
    step("the forward, recorded", began)
    desk = TileTickets()
    opened = TileServer(capture, desk=desk)
    opened.show(0)
    began = time.perf_counter()
    desk.answer(opened.ticket, "tile/0/0/0/0/0")
    step("one head's whole map, and all larger pixels", began)
    last, side = Tiling(tokens).last, Tiling(tokens).tiles(Tiling(tokens).last)
    took: list[float] = []
    for number in range(PANNED):
        y = number * 7 % side
        began = time.perf_counter()
        status, _body = desk.answer(opened.ticket, f"tile/0/0/{last}/{number * 3 % (y + 1)}/{y}")
        took.append(1000 * (time.perf_counter() - began))
        if status != 200:
            raise RuntimeError(status)
    began = time.perf_counter()
    done = [block(capture, rows_) for rows_ in blocks_of(capture) if rows_.layer == 0]
    step(f"every head of a layer, {len(done)} blocks", began)
    most = peak.stop()
    print_table(f"{tokens:,} tokens, {layers} × {N_HEADS} × {D_MODEL}", ["step", "time", "memory over the model"], rows)
    print(f"memory over the model: {most:.2f} GB, {MEMORY} {MEMORY.verdict(most)}")
    middle = statistics.median(took)
    print(f"a tile of cells while panning, server: median {middle:.1f} ms, largest {max(took):.0f} ms of {PANNED}")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--tokens", type=int, default=2048)
    options.add_argument("--layers", type=int, default=12)
    options.add_argument("--painted", action="store_true")
    given = options.parse_args()
    print(machine())
    painted() if given.painted else measure(given.tokens, given.layers)


if __name__ == "__main__":
    main()
