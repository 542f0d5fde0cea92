"""What does it cost to ablate every head once, compared with one whole forward per head?

    python -m benchmarks.head_ablation [--threads 1] [--seconds 60]

The embedded model in float32, 64 tokens. Ours is what the page does: one job per layer, with its heads in one batch,
and without recomputing the layers below. The alternative is transformers' own forward, once per head, with the logits
of every position as by default; and, listed separately, with those of the last position only. It does not even ablate
anything, which is in its favour. Times are taken in turns and compared within each turn, so that other work on the
machine affects all. The test whether the model's layers can be run separately, done once per model, is not included.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from benchmarks._table import Target, machine, print_table
from model_runner import Capture, CaptureRequest, load_runner
from model_runner.local.answers.head_effects import ablations
from model_runner.local.answers.rerun import rerun_of
from model_runner.local.engine import Engine
from model_runner.local.loading.model_folder import DEFAULT, DEFAULT_FOLDER
from model_runner.local.runner import LocalRunner

N_TOKENS = 64
SENTENCE = "The dog chased the squirrel because it was hungry. "
TIME = Target(0.333, "×")
FEWEST_TURNS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="of torch; more make the times depend on other work")
    parser.add_argument("--seconds", type=float, default=60, help="spent on measuring times")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    runner = load_runner(DEFAULT, device="cpu")
    plain = AutoModelForCausalLM.from_pretrained(DEFAULT_FOLDER, dtype=torch.float32).eval()
    capture = _of_length(runner, N_TOKENS)
    ids = torch.tensor([[token.id for token in capture.tokens]])
    n_heads = runner.info.n_layers * runner.info.n_heads
    target = int(capture.logits(-1).argmax())
    turns = _turns(
        [
            lambda: [_ablated(runner, capture, layer, target) for layer in range(capture.n_layers)],
            lambda: _forwards(plain, ids, n_heads),
            lambda: _forwards(plain, ids, n_heads, logits_to_keep=1),
        ],
        options.seconds,
    )
    each = [median(turn[i] for turn in turns) for i in range(3)]
    ratios = [median(turn[0] / turn[i] for turn in turns) for i in (1, 2)]
    head = ["heads", "turns", "ours", "forwards", "forwards, last logits", "÷ forwards", "÷ last logits", "target", ""]
    row = [str(n_heads), str(len(turns)), *(f"{seconds:.3f} s" for seconds in each)]
    row += [*(f"{ratio:.3f}×" for ratio in ratios), str(TIME), TIME.verdict(ratios[0])]
    print_table(f"Every head ablated once, {N_TOKENS} tokens", head, [row])
    print(f"{machine()}, torch {torch.__version__} with {options.threads} thread(s).")


def _of_length(runner: LocalRunner, n_tokens: int) -> Capture:
    """A text cut to so many tokens."""
    text = SENTENCE * n_tokens
    capture = runner.capture(CaptureRequest(text=text[: 6 * n_tokens]))
    text = capture.text[: capture.tokens[n_tokens - 1].end]
    capture = runner.capture(CaptureRequest(text=text))
    assert len(capture.tokens) == n_tokens, "cut there, the text has another number of tokens"
    return capture


def _ablated(runner: LocalRunner, capture: Capture, layer: int, target: int) -> torch.Tensor:
    assert isinstance(runner.engine, Engine)
    return ablations(rerun_of(runner.engine, capture.request), layer, target)


def _forwards(plain: Any, ids: torch.Tensor, count: int, **settings: Any) -> None:
    with torch.no_grad():
        for _ in range(count):
            plain(ids, use_cache=False, **settings)


def _turns(ways: list[Callable[[], object]], seconds: float) -> list[dict[int, float]]:
    for way in ways:
        way()  # fills caches
    turns: list[dict[int, float]] = []
    started = time.perf_counter()
    while time.perf_counter() - started < seconds or len(turns) < FEWEST_TURNS:
        order = list(range(len(ways)))
        first = len(turns) % len(ways)  # each way is first equally often
        turns.append({i: _clocked(ways[i]) for i in order[first:] + order[:first]})
    return turns


def _clocked(way: Callable[[], object]) -> float:
    started = time.perf_counter()
    way()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
