"""What does it cost to record a generation? Time beside transformers' cached generate, and memory.

    python -m benchmarks.generation_cost [--threads 1] [--seconds 60]

Two models, float32, greedy: the embedded one, and a random Llama of 12 layers × 12 heads × 768. Times are taken in
turns (generate, ours, generate, ...) and compared within each turn, so that other work on the machine affects both. A
step of ours also runs its own token through the model, since it shows what that token attends to; so that both run the
same number of forwards, generate makes one token more. The capture of the last step is included in the time. Memory is
measured in a fresh process each: how much more is resident after 500 steps than after the first, compared with the
bytes of the rows that are kept. These rows include the model's own KV cache, which holds the same keys and values.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import psutil
import torch
from transformers import AutoModelForCausalLM

from benchmarks import _llama
from benchmarks._table import Target, machine, print_table
from model_runner import GenerateRequest, load_runner
from model_runner.byte_lru import ByteBudgetCache
from model_runner.local.loading.model_folder import DEFAULT, DEFAULT_FOLDER
from model_runner.local.runner import LocalRunner

PROMPT, NEW = 48, 100  # tokens
STEPS = 500  # for the measurement of memory
MODELS = ("embedded", "random")
TIME, MEMORY = Target(1.2, "×"), Target(0.1, "")


@dataclass(frozen=True, eq=False)
class Pair:
    """The same model twice: with our runner, and with transformers alone."""

    name: str
    runner: LocalRunner
    plain: Any
    text: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="of torch; more make the times depend on other work")
    parser.add_argument("--seconds", type=float, default=60, help="spent on measuring times, for each model")
    parser.add_argument("--growth", choices=MODELS, help="only print bytes: grown, kept")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.growth:
        print(*_growth(options.growth))
        return
    head = ["model", "turns", "generate", "ours", "ratio", "CPU ratio", "ms a step", "target", ""]
    print_table("Time of a generation", head, [_times(name, options.seconds) for name in MODELS])
    _print_memory(options.threads)
    print(f"{machine()}, torch {torch.__version__} with {options.threads} thread(s), {PROMPT} + {NEW} tokens.")


def _pair(name: str) -> Pair:
    if name == "random":
        model = _llama.random_llama()
        plain = _llama.sharing_weights(model)
        runner = LocalRunner(model, _llama.word_tokenizer(), name="random Llama", kept=ByteBudgetCache(0))
        text = _llama.text(PROMPT)
    else:
        loaded = load_runner(DEFAULT, device="cpu")
        assert isinstance(loaded, LocalRunner)
        runner = loaded
        plain = AutoModelForCausalLM.from_pretrained(DEFAULT_FOLDER, dtype=torch.float32).eval()
        text = "The dog chased the cat because it was "
    runner.engine.model.generation_config.eos_token_id = plain.generation_config.eos_token_id = None  # never stop early
    return Pair(name, runner, plain, text)


# -- time -------------------------------------------------------------------------------------------------------------


def _times(name: str, seconds: float) -> list[str]:
    pair = _pair(name)
    ids = torch.tensor([_prompt(pair)])
    settings: dict[str, Any] = {"do_sample": False, "use_cache": True, "attention_mask": torch.ones_like(ids)}
    found = pair.plain.generate(ids, max_new_tokens=NEW, **settings)[0, ids.shape[1] :].tolist()
    mine = [step.token.id for step in pair.runner.generate(GenerateRequest(pair.text, max_new_tokens=NEW))]
    assert found == mine, "the two do not write the same text"
    ways: tuple[Callable[[], object], ...] = (
        lambda: pair.plain.generate(ids, max_new_tokens=NEW + 1, **settings),
        lambda: list(pair.runner.generate(GenerateRequest(pair.text, max_new_tokens=NEW)))[-1].capture,
    )
    turns: list[list[tuple[float, float]]] = []
    started = time.perf_counter()
    while time.perf_counter() - started < seconds or len(turns) < 5:
        order = (0, 1) if len(turns) % 2 else (1, 0)  # each way is first equally often
        turn = {i: _clocked(ways[i]) for i in order}
        turns.append([turn[0], turn[1]])
    each = [median(turn[i][0] for turn in turns) for i in (0, 1)]
    ratio, cpu = (median(turn[1][clock] / turn[0][clock] for turn in turns) for clock in (0, 1))
    shown = [f"{each[0]:.3f} s", f"{each[1]:.3f} s", f"{ratio:.3f}×", f"{cpu:.3f}×", f"{1000 * each[1] / NEW:.1f}"]
    return [pair.name, str(len(turns)), *shown, str(TIME), TIME.verdict(ratio)]


def _prompt(pair: Pair) -> list[int]:
    return pair.runner.engine.tokenizer(pair.text)["input_ids"]


def _clocked(way: Callable[[], object]) -> tuple[float, float]:
    """Wall-clock and CPU seconds of this process, all threads together; the result is freed after the measurement."""
    with torch.no_grad():
        wall, cpu = time.perf_counter(), time.process_time()
        made = way()
        took = time.perf_counter() - wall, time.process_time() - cpu
    del made
    return took


# -- memory -----------------------------------------------------------------------------------------------------------


def _print_memory(threads: int) -> None:
    rows = []
    for name in MODELS:
        command = [sys.executable, "-m", "benchmarks.generation_cost", f"--threads={threads}", f"--growth={name}"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        grown, kept = map(int, printed.split())
        off = grown / kept - 1
        sizes = [f"{size / 1e6:.1f} MB" for size in (grown, kept)]
        rows.append([name, *sizes, f"{100 * off:+.1f} %", "± 10 %", MEMORY.verdict(abs(off))])
    head = ["model", f"grown in {STEPS} steps", "kept rows", "off by", "target", ""]
    print_table("Memory of a generation", head, rows)


def _growth(name: str) -> tuple[int, int]:
    """Bytes by which the resident memory grows from the first step to the last, and bytes of the rows kept of these
    steps.
    """
    pair = _pair(name)
    list(pair.runner.generate(GenerateRequest("1", max_new_tokens=1)))  # caches are filled, and little is freed
    steps = pair.runner.generate(GenerateRequest(pair.text, max_new_tokens=STEPS + 1))
    first = next(steps).capture.nbytes
    last, base = None, psutil.Process().memory_info().rss
    for step in steps:
        last = step
    grown = psutil.Process().memory_info().rss - base
    assert last is not None
    assert last.index == STEPS
    return grown, last.capture.nbytes - first


if __name__ == "__main__":
    main()
