"""What does seeing cost? Time and memory of a capture beside the plain forward, and of our pictures beside BertViz'.

    python -m benchmarks.capture_cost [--threads 1 2] [--seconds 60]

A random Llama of 12 layers × 12 heads × 768 in float32. Times are taken in turns (plain, capture, plain, ...) and
compared within each turn, so that other work on the machine falls on both. Memory is measured in a fresh process each:
the most that was resident (the kernel's high-water mark) less what was resident before the forward. BertViz is compared
where it is installed: `pip install -r requirements-bench.txt`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import psutil
import torch
from transformers import LlamaForCausalLM

from benchmarks import _llama
from benchmarks._pictures import compare_pictures
from benchmarks._table import Target, machine, print_table
from model_runner import CaptureRequest
from model_runner.byte_lru import ByteBudgetCache
from model_runner.local.runner import LocalRunner

LENGTHS = (256, 1024, 2048)
TIME, RATIO, PEAK = Target(1.08, "×"), Target(0.2, "×"), Target(450, " MB")
WAYS = ("capture", "eager")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    counts = sorted({1, torch.get_num_threads()})
    parser.add_argument("--threads", type=int, nargs="+", default=counts, help="of torch: one, and as many as it takes")
    parser.add_argument("--seconds", type=float, default=60, help="spent on measuring times, at each length")
    parser.add_argument("--peak", choices=WAYS, help="only print the peak bytes of this, over the base")
    options = parser.parse_args()
    if options.peak:
        torch.set_num_threads(options.threads[0])
        print(_peak(options.peak, LENGTHS[-1]))
        return
    for threads in options.threads:
        torch.set_num_threads(threads)
        _print_times(options.seconds)
    _print_memory(options.threads)
    compare_pictures()
    print(f"{machine()}, torch {torch.__version__}.")


# -- time -------------------------------------------------------------------------------------------------------------


def _print_times(seconds: float) -> None:
    model = _llama.random_llama()
    plain, runner = _llama.sharing_weights(model), _runner(model)  # its thread takes so many as are set when it starts
    rows = [_times(runner, plain, n_tokens, seconds) for n_tokens in LENGTHS]
    head = [
        "T",
        "turns",
        "plain, backbone",
        "plain, with logits",
        "capture",
        "÷ backbone",
        "÷ with logits",
        "CPU ÷ backbone",
    ]
    print_table(f"Time of a capture, {torch.get_num_threads()} thread(s)", [*head, "target", ""], rows)


def _times(runner: LocalRunner, plain: LlamaForCausalLM, n_tokens: int, seconds: float) -> list[str]:
    """Medians over turns of the three ways; the target applies to the backbone alone, which is what a capture runs."""
    words = _llama.text(n_tokens)
    ids = runner.engine.tokenizer(words, return_tensors="pt")["input_ids"]
    ways: tuple[Callable[[], object], ...] = (
        lambda: plain.model(input_ids=ids, use_cache=False),
        lambda: plain(input_ids=ids, use_cache=False, logits_to_keep=1),
        lambda: runner.capture(CaptureRequest(text=words)),
    )
    for way in ways:
        _clocked(way)
    turns: list[list[tuple[float, float]]] = []
    started = time.perf_counter()
    while time.perf_counter() - started < seconds or len(turns) < 5:
        shift = len(turns) % len(ways)  # each way is first, second and last equally often
        order = [*range(shift, len(ways)), *range(shift)]
        turn = {i: _clocked(ways[i]) for i in order}
        turns.append([turn[i] for i in range(len(ways))])
    seconds_each = [f"{median(turn[i][0] for turn in turns):.2f} s" for i in range(len(ways))]
    ratios = [
        median(turn[2][clock] / turn[other][clock] for turn in turns) for other, clock in ((0, 0), (1, 0), (0, 1))
    ]
    shown = [f"{ratio:.3f}×" for ratio in ratios]
    return [str(n_tokens), str(len(turns)), *seconds_each, *shown, str(TIME), TIME.verdict(ratios[0])]


def _clocked(way: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock and CPU seconds of this process, all threads together; the result is freed after the measurement."""
    with torch.no_grad():
        wall, cpu = time.perf_counter(), time.process_time()
        made = way()
        took = time.perf_counter() - wall, time.process_time() - cpu
    del made
    return took


def _runner(model: LlamaForCausalLM) -> LocalRunner:
    return LocalRunner(
        model, _llama.word_tokenizer(), name="random Llama", kept=ByteBudgetCache(0)
    )  # nothing is cached


# -- memory -----------------------------------------------------------------------------------------------------------


def _print_memory(thread_counts: list[int]) -> None:
    rows: list[list[str]] = []
    for threads in thread_counts:
        command = [sys.executable, "-m", "benchmarks.capture_cost", f"--threads={threads}", "--peak"]
        sizes = [
            int(subprocess.run([*command, way], check=True, capture_output=True, text=True).stdout) for way in WAYS
        ]
        ratio, peak = sizes[0] / sizes[1], sizes[0] / 1e6
        row = [str(LENGTHS[-1]), str(threads), *(f"{size / 1e6:,.0f} MB" for size in sizes), f"{ratio:.3f}×"]
        rows.append([*row, f"{RATIO}, {PEAK}", f"{RATIO.verdict(ratio)}, {PEAK.verdict(peak)}"])
    print_table("Peak memory over the base", ["T", "threads", *WAYS, "ratio", "targets", ""], rows)


def _peak(way: str, n_tokens: int) -> int:
    """Bytes that one forward adds to the resident memory, its result included."""
    words = _llama.text(n_tokens)
    if way == "capture":
        runner = _runner(_llama.random_llama())

        def forward(words: str) -> object:
            return runner.capture(CaptureRequest(text=words))
    else:
        model, tokenizer = _llama.random_llama("eager").model, _llama.word_tokenizer()

        def forward(words: str) -> object:
            ids = tokenizer(words, return_tensors="pt")["input_ids"]
            return model(input_ids=ids, use_cache=False, output_attentions=True)

    with torch.no_grad():
        forward("1 2 3")
        base, before = psutil.Process().memory_info().rss, most_resident()
        made = forward(words)
        most = most_resident()
        del made
    if most <= before:
        sys.exit("The forward needed less than loading the model did: its peak cannot be seen.")
    return most - base


def most_resident() -> int:
    """The high-water mark of this process. On Linux ru_maxrss is not usable: a child starts with its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


if __name__ == "__main__":
    main()
