"""What does the badge cost for a long text? Recomputing a layer's sampled rows, compared with the capture it checks.

    python -m benchmarks.verify_cost [--threads 1] [--turns 3] [--dtype float32] [--device cpu]

A random model of the embedded one's shape, for longer texts. Capture and check alternate; a check is of one layer, with
nothing cached.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from benchmarks import _llama
from benchmarks._table import Target, machine, print_table
from model_runner import CaptureRequest
from model_runner.byte_lru import ByteBudgetCache
from model_runner.checked_rows import rows_checked
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.local.runner import LocalRunner

LENGTHS = (4096, 8192, 16384)
RATIO = Target(0.3, "×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, help="of torch; more make the times depend on other work")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    runner = _runner(getattr(torch, options.dtype), options.device)
    rows = [_times(runner, n_tokens, options.turns) for n_tokens in LENGTHS]
    head = ["T", "turns", "capture", "check of a layer", "rows", "÷ capture", "target", ""]
    print_table(f"Checking a long text, {options.dtype}", head, rows)
    where = torch.cuda.get_device_name() if options.device == "cuda" else f"{options.threads} thread(s)"
    print(f"{machine()}, torch {torch.__version__} with {where}.")


def _runner(dtype: torch.dtype, device: str) -> LocalRunner:
    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(DEFAULT_FOLDER, max_position_embeddings=LENGTHS[-1], vocab_size=_llama.VOCAB)
    model = AutoModelForCausalLM.from_config(config).to(device, dtype)
    tokenizer = _llama.word_tokenizer(longest=LENGTHS[-1])
    return LocalRunner(model, tokenizer, name="random", device=device, kept=ByteBudgetCache(0))


def _times(runner: LocalRunner, n_tokens: int, turns: int) -> list[str]:
    captures, checks, words = [], [], _llama.text(n_tokens)
    for turn in range(turns + 1):  # the first one is not counted
        began = time.perf_counter()
        capture = runner.capture(CaptureRequest(text=words))
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        between = time.perf_counter()
        capture.verify(capture.n_layers // 2)  # its result is on the CPU
        if turn:
            checks.append(time.perf_counter() - between)
            captures.append(between - began)
    ratio = median(checks) / median(captures)
    rows = f"{sum(piece.stop - piece.start for piece in rows_checked(n_tokens)):,} of {n_tokens:,}"
    return [
        f"{n_tokens:,}", str(turns), f"{median(captures):.3f} s", f"{median(checks):.3f} s", rows, f"{ratio:.2f}×",
        str(RATIO), RATIO.verdict(ratio),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
