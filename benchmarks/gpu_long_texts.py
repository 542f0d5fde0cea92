"""What a long text costs on a GPU: time and memory of its capture beside the plain forward, and a tile of a map.

    python -m benchmarks.gpu_long_texts [--tokens 32768] [--layers 32] [--turns 3]

A random Llama of the shape of an 8B one, in bfloat16. Without a CUDA device a small one is measured on the CPU in its
place, which says whether the script runs and nothing about a GPU. Memory is the most that a fresh process took over
its model: what was allocated on the GPU, or what was resident.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import psutil
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from benchmarks import _llama
from benchmarks._table import Target, machine, print_table
from benchmarks.capture_cost import most_resident
from model_runner import Capture, CaptureRequest
from model_runner.byte_lru import ByteBudgetCache
from model_runner.local.request_tokens import write
from model_runner.local.runner import LocalRunner

TIME, MEMORY, TILE = Target(1.05, "×"), Target(1.1, "×"), Target(10, " ms")
SIDE, TILES = 512, 40
WAYS = ("plain", "capture")
NO_GPU = "No CUDA device: a small model on the CPU in its place. The numbers are small, and no target applies to them."


@dataclass(frozen=True)
class Shape:
    """Of a Llama; ``tokens`` and ``layers`` are what is measured."""

    tokens: int
    layers: int
    d_model: int
    heads: int
    kv_heads: int
    inner: int
    vocab: int
    dtype: torch.dtype
    device: str


LARGE = Shape(32_768, 32, 4096, 32, 8, 14_336, 128_256, torch.bfloat16, "cuda")
SMALL = Shape(1024, 2, 512, 8, 2, 1792, _llama.VOCAB, torch.float32, "cpu")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = LARGE if torch.cuda.is_available() else SMALL
    parser.add_argument("--tokens", type=int, default=usual.tokens)
    parser.add_argument("--layers", type=int, default=usual.layers)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--peak", choices=WAYS, help="only print the peak bytes of this, over the model")
    options = parser.parse_args(arguments)
    shape = Shape(**{**vars(usual), "tokens": options.tokens, "layers": options.layers})
    if options.peak:
        print(json.dumps(_peak(shape, options.peak)))
        return
    on_gpu = shape.device == "cuda"
    if not on_gpu:
        print(NO_GPU)
    peaks = {way: _in_a_process_of_its_own(shape, way) for way in WAYS}  # first: this one takes no memory yet
    rows = [*_times(shape, options.turns), _memory(shape, peaks)]
    if not on_gpu:
        rows = [[*row[:-2], "none here", ""] for row in rows]
    size = f"{shape.layers} × {shape.heads} ({shape.kv_heads}) × {shape.d_model}"
    print_table(
        f"{shape.tokens:,} tokens, {size}, {str(shape.dtype).removeprefix('torch.')}",
        ["what", "measured", "beside", "ratio", "target", ""],
        rows,
    )
    device = torch.cuda.get_device_name() if on_gpu else "no GPU"
    print(f"{machine()}, {device}, torch {torch.__version__}.")


def _model(shape: Shape) -> LlamaForCausalLM:
    """Random, made where it is to be."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=shape.vocab, hidden_size=shape.d_model, intermediate_size=shape.inner,
        num_hidden_layers=shape.layers, num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
        max_position_embeddings=shape.tokens, dtype=shape.dtype,
    )  # fmt: skip  # as many as fit
    before = torch.get_default_dtype()
    torch.set_default_dtype(shape.dtype)
    try:
        with torch.device(shape.device):
            return LlamaForCausalLM(config).eval().requires_grad_(False)
    finally:
        torch.set_default_dtype(before)


def _runner(model: LlamaForCausalLM, shape: Shape) -> LocalRunner:
    tokenizer = _llama.word_tokenizer(shape.tokens)
    return LocalRunner(model, tokenizer, name="random Llama", device=shape.device, kept=ByteBudgetCache(0))


def _ids(words: str, shape: Shape) -> torch.Tensor:
    """As the tokenizer has them: word n is token n."""
    return torch.tensor([[int(word) for word in words.split()]], device=shape.device)


def _clocked(shape: Shape, way: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds until the device is done, and what was made."""
    _done(shape)
    began = time.perf_counter()
    with torch.no_grad():
        made = way()
    _done(shape)
    return time.perf_counter() - began, made


def _done(shape: Shape) -> None:
    if shape.device == "cuda":
        torch.cuda.synchronize()


# -- time -------------------------------------------------------------------------------------------------------------


def _times(shape: Shape, turns: int) -> list[list[str]]:
    """A row of the capture beside the backbone of the plain forward, by turns; and one of tiles, anywhere in the
    map.
    """
    model = _model(shape)
    plain, runner = _llama.sharing_weights(model), _runner(model, shape)
    words = _llama.text(shape.tokens)
    ids = _ids(words, shape)
    tokens = _clocked(shape, lambda: write(runner.engine.tokenizer, CaptureRequest(text=words), runner.info))[0]
    took: list[tuple[float, float]] = []
    for turn in range(turns + 1):  # the first is not counted
        forward = _clocked(shape, lambda: plain.model(input_ids=ids, use_cache=False).last_hidden_state[0, -1, 0])[0]
        captured = _clocked(shape, lambda: runner.capture(CaptureRequest(text=words)))[0]
        took += [(forward, captured)] if turn else []
    ratio = median(second / first for first, second in took)
    first, second = (median(one) for one in zip(*took, strict=True))
    rows = [["a capture beside the plain forward", f"{second:.2f} s", f"{first:.2f} s", f"{ratio:.3f}×", str(TIME),
             TIME.verdict(ratio)],
            ["of it, the text into tokens, on the CPU", f"{tokens:.2f} s", "", "", "", ""]]  # fmt: skip  # rows
    return rows + _tiles(shape, runner.capture(CaptureRequest(text=words)))


def _tiles(shape: Shape, capture: Capture) -> list[list[str]]:
    """The layer's denominators once, then tiles of cells on and under the diagonal."""
    layer, side = shape.layers - 1, min(SIDE, shape.tokens)
    whole = _clocked(shape, lambda: capture.lse(layer))[0]
    random, took = torch.Generator().manual_seed(0), list[float]()
    for number in range(TILES):
        top = int(torch.randint(shape.tokens - side + 1, (1,), generator=random))
        left = int(torch.randint(top + 1, (1,), generator=random))
        queries, keys, head = slice(top, top + side), slice(left, left + side), number % shape.heads
        made = partial(capture.weights, layer, head, queries=queries, keys=keys)
        took.append(1000 * _clocked(shape, made)[0])
    slowest = max(took[1:])
    name = f"any tile of {side} × {side} cells, slowest of {TILES}"
    return [
        ["a layer's softmax denominators, once", f"{whole:.2f} s", "", "", "", ""],
        [name, f"{slowest:.1f} ms", f"median {median(took):.1f} ms", "", str(TILE), TILE.verdict(slowest)],
    ]


# -- memory -----------------------------------------------------------------------------------------------------------


def _memory(shape: Shape, peaks: dict[str, dict[str, int]]) -> list[str]:
    """The capture's peak, weights included, beside weights + what the plain forward takes + the q, k, v, lse kept."""
    weights, n_bytes = peaks["plain"]["weights"], shape.dtype.itemsize
    d_head = shape.d_model // shape.heads
    of_a_token = (shape.heads + 2 * shape.kv_heads) * d_head * n_bytes + shape.heads * torch.float32.itemsize
    kept = shape.layers * shape.tokens * of_a_token
    peak, beside = weights + peaks["capture"]["over"], weights + peaks["plain"]["over"] + kept
    name = "peak, beside weights + plain activations + q, k, v, lse"
    ratio = peak / beside
    return [name, _size(peak), _size(beside), f"{ratio:.2f}×", str(MEMORY), MEMORY.verdict(ratio)]


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.2f} GB"


def _in_a_process_of_its_own(shape: Shape, way: str) -> dict[str, int]:
    command = [sys.executable, "-m", "benchmarks.gpu_long_texts", f"--tokens={shape.tokens}"]
    command += [f"--layers={shape.layers}", f"--peak={way}"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def _peak(shape: Shape, way: str) -> dict[str, int]:
    """Bytes of the weights, and what one forward adds to them at most, its result included."""
    model = _model(shape)
    weights = sum(one.nbytes for one in model.parameters())
    runner = _runner(model, shape) if way == "capture" else None

    def forward(words: str) -> object:
        if runner is not None:
            return runner.capture(CaptureRequest(text=words))
        return model.model(input_ids=_ids(words, shape), use_cache=False)

    with torch.no_grad():
        forward("1 2 3")
        if shape.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            base = torch.cuda.memory_allocated()
        else:
            base = psutil.Process().memory_info().rss
        made = forward(_llama.text(shape.tokens))
        _done(shape)
        most = torch.cuda.max_memory_allocated() if shape.device == "cuda" else most_resident()
        del made
    return {"weights": weights, "over": max(0, most - base)}


if __name__ == "__main__":
    main()
