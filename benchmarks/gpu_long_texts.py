"""What a long text costs on a GPU: a capture beside the plain forward, tiles of a map, clicks over HTTP, and memory.

    make bench-gpu, or python -m benchmarks.gpu_long_texts [--tokens 32768 --layers 32] [--turns 3] [--smoke]

A random Llama of the shape of an 8B one, in bfloat16: 32,768 tokens through 32 layers, then 131,072 through 8, since a
capture of all 32 would take 122 GB. Measurements that have not started after ``--limit`` seconds are skipped. Without a
CUDA device, or with ``--smoke``, a tiny model runs on the CPU instead, which shows that the script works and says
nothing about a GPU. Memory is the most that a fresh process used beyond its model: allocated on the GPU, or resident.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
from tests.served.server import remote, serving, settings

TIME, MEMORY, TILE = Target(1.05, "×"), Target(1.1, "×"), Target(10, " ms")
CLICK = Target(1.5, "×")  # as in benchmarks/served.py
CLICKS = 12
KEPT = 1 << 40  # bytes: fits any capture
LIMIT = 540.0  # seconds after which nothing new is started: the command ends within ten minutes
SIDE, TILES = 512, 40
WAYS = ("plain", "capture")
ON_CPU = "a tiny model on the CPU in its place. The numbers say nothing about a GPU, and no target applies to them."


@dataclass(frozen=True)
class Shape:
    """The shape of a Llama; ``tokens`` and ``layers`` are what is measured."""

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
LONGEST = replace(LARGE, tokens=131_072, layers=8)
TINY = Shape(1024, 2, 64, 4, 2, 128, _llama.VOCAB, torch.float32, "cpu")  # long enough for blocks of rows


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, help="one text of this length alone")
    parser.add_argument("--layers", type=int)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which nothing more is begun")
    parser.add_argument("--smoke", action="store_true", help="a tiny model on the CPU: does the script run?")
    parser.add_argument("--peak", choices=WAYS, help="only print the peak bytes of this, over the model")
    options = parser.parse_args(arguments)
    on_gpu = torch.cuda.is_available() and not options.smoke
    shapes = [LARGE, LONGEST] if on_gpu else [TINY]
    if options.tokens or options.layers:
        first = shapes[0]
        shapes = [replace(first, tokens=options.tokens or first.tokens, layers=options.layers or first.layers)]
    if options.peak:
        print(json.dumps(_peak(shapes[0], options.peak)))
        return
    if not on_gpu:
        print(f"{'As asked' if torch.cuda.is_available() else 'No CUDA device'}: {ON_CPU}")
    until = time.monotonic() + options.limit
    for shape in shapes:
        if on_gpu and (free := torch.cuda.mem_get_info()[0]) < needed(shape):
            sizes = f"{_size(needed(shape))} of GPU memory, and {_size(free)} are free"
            print(f"{shape.tokens:,} tokens through {shape.layers} layers need {sizes}: left out.")
            continue
        _print(shape, options.turns, until)
        gc.collect()  # a runner and its captures reference each other
        torch.cuda.empty_cache()  # does nothing without a GPU
    device = torch.cuda.get_device_name() if on_gpu else "no GPU"
    print(f"{machine()}, {device}, torch {torch.__version__}.")


def needed(shape: Shape) -> int:
    """Bytes of the weights and of a capture, plus a tenth for the forward's temporaries."""
    d_head = shape.d_model // shape.heads
    layer = 2 * (shape.heads + shape.kv_heads) * d_head
    weights = shape.layers * shape.d_model * (layer + 3 * shape.inner) + 2 * shape.vocab * shape.d_model
    capture = shape.tokens * (shape.layers * layer + (shape.layers + 2) * shape.d_model)
    return round(1.1 * shape.dtype.itemsize * (weights + capture))


def _print(shape: Shape, turns: int, until: float) -> None:
    """The table of one length."""
    peaks = {  # first, while this process uses no memory yet
        way: _in_a_process_of_its_own(shape, way) for way in WAYS if time.monotonic() < until
    }
    rows: list[list[str]] = []
    for part in _parts(shape, turns):
        if time.monotonic() >= until:
            break
        rows += part()
    rows += [_memory(shape, peaks)] if len(peaks) == len(WAYS) else []
    if shape.device == "cpu":
        rows = [[*row[:-2], "none here", ""] for row in rows]
    size = f"{shape.layers} × {shape.heads} ({shape.kv_heads}) × {shape.d_model}"
    print_table(
        f"{shape.tokens:,} tokens, {size}, {str(shape.dtype).removeprefix('torch.')}",
        ["what", "measured", "beside", "ratio", "target", ""],
        rows,
    )
    if time.monotonic() >= until:
        print("The time was over: what is missing was left out.")


def _parts(shape: Shape, turns: int) -> Iterator[Callable[[], list[list[str]]]]:
    """The measurements on one model, in order."""
    model = _model(shape)
    runner = _runner(model, shape)
    yield lambda: _times(model, runner, shape, turns)
    yield lambda: _tiles(shape, runner.capture(CaptureRequest(text=_llama.text(shape.tokens))))
    yield lambda: _clicks(shape, runner)


def _model(shape: Shape) -> LlamaForCausalLM:
    """A random model, created on its device."""
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
    tokenizer, kept = _llama.word_tokenizer(shape.tokens), ByteBudgetCache(KEPT)
    return LocalRunner(model, tokenizer, name="random Llama", device=shape.device, kept=kept)


def _ids(words: str, shape: Shape) -> torch.Tensor:
    """The ids that the tokenizer gives: word n is token n."""
    return torch.tensor([[int(word) for word in words.split()]], device=shape.device)


def _clocked(shape: Shape, way: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds until the device has finished, and the result."""
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


def _times(model: LlamaForCausalLM, runner: LocalRunner, shape: Shape, turns: int) -> list[list[str]]:
    """The capture against the backbone of the plain forward, in turns."""
    plain = _llama.sharing_weights(model)
    words = _llama.text(shape.tokens)
    ids = _ids(words, shape)
    tokens = _clocked(shape, lambda: write(runner.engine.tokenizer, CaptureRequest(text=words), runner.info))[0]
    took: list[tuple[float, float]] = []
    for turn in range(turns + 1):  # the first one is not counted
        forward = _clocked(shape, lambda: plain.model(input_ids=ids, use_cache=False).last_hidden_state[0, -1, 0])[0]
        runner.engine.cache.clear()
        captured = _clocked(shape, lambda: runner.capture(CaptureRequest(text=words)))[0]
        took += [(forward, captured)] if turn else []
    ratio = median(second / first for first, second in took)
    first, second = (median(one) for one in zip(*took, strict=True))
    return [["a capture beside the plain forward", f"{second:.2f} s", f"{first:.2f} s", f"{ratio:.3f}×", str(TIME),
             TIME.verdict(ratio)],
            ["of it, the text into tokens, on the CPU", f"{tokens:.2f} s", "", "", "", ""]]  # fmt: skip  # rows


def _tiles(shape: Shape, capture: Capture) -> list[list[str]]:
    """The layer's denominators once, then tiles of cells on and below the diagonal."""
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


def _clicks(shape: Shape, runner: LocalRunner) -> list[list[str]]:
    """A tile of another head each time, locally and from a server on this machine, in turns; and the outline before."""
    words, name = _llama.text(shape.tokens), "llama"
    limits = settings((name,), text=len(words), body="64 MB")
    with serving({name: runner}, limits) as url:
        far = remote(url, name)
        asked = CaptureRequest(text=words)
        here = runner.capture(asked)  # cached, like the server's
        outline, there = _clocked(shape, lambda: far.capture(asked))
        sent, side, took = far.link.bytes_in, min(SIDE, shape.tokens), list[tuple[float, float]]()
        before = sent
        last = slice(shape.tokens - side, shape.tokens)
        for turn in range(CLICKS + 1):  # the first one is not counted
            layer, head = turn % shape.layers, (turn // shape.layers) % shape.heads
            looks = [partial(one.weights, layer, head, queries=last, keys=last) for one in (here, there)]
            (own, mine), (away, theirs) = (_clocked(shape, look) for look in looks)
            if not torch.equal(mine.cpu(), theirs.cpu()):
                raise AssertionError(f"L{layer}H{head} is another one at the server")
            took += [(own, away)] if turn else []
        a_click = (far.link.bytes_in - before) / (CLICKS + 1)
    own, away = (median(one) for one in zip(*took, strict=True))
    ratio = away / own
    return [
        ["the outline of that capture over loopback", f"{outline:.2f} s", f"{sent / 1e6:.2f} MB received", "", "", ""],
        [f"a tile of {side} × {side} of another head, over loopback", f"{1000 * away:.1f} ms", f"{1000 * own:.1f} ms",
         f"{ratio:.2f}×", str(CLICK), CLICK.verdict(ratio)],
        ["of it received", f"{a_click / 1e6:.2f} MB", "", "", "", ""],
    ]  # fmt: skip


# -- memory -----------------------------------------------------------------------------------------------------------


def _memory(shape: Shape, peaks: dict[str, dict[str, int]]) -> list[str]:
    """The capture's peak, weights included, against weights + what the plain forward takes + the q, k, v, lse kept."""
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
    command += [f"--layers={shape.layers}", f"--peak={way}", *(["--smoke"] if shape.device == "cpu" else [])]
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
