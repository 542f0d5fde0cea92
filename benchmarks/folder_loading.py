"""What security costs: a folder loaded as a visitor's and as a trusted one, and the sandboxed checks alone.

    python -m benchmarks.folder_loading [--turns 7]

A Llama of three tiny layers with a tokenizer of bytes. The sandboxed processes are measured with the requests that a
folder gets which is not plainly harmless.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from transformers import AutoModelForCausalLM

from benchmarks._table import machine, print_table
from model_runner.local.loading.checkpoint import inspect_folder
from model_runner.local.loading.expected_shapes import expected_shapes
from model_runner.local.loading.loader import load_runner
from model_runner.local.loading.sandboxed_tokenizer import SandboxedTokenizer, start_sandbox
from tests.model_runner.tiny import byte_tokenizer, tiny


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tiny("llama", num_hidden_layers=3)().save_pretrained(folder)
        byte_tokenizer().save_pretrained(folder)
        ways: dict[str, Callable[[], object]] = {
            "unguarded, as in a notebook": lambda: load_runner(str(folder)),
            "as a visitor's": lambda: load_runner(str(folder), sandboxed=True),
            "its configuration, tried apart": lambda: _shapes(folder),
            "its tokenizer, tried apart": lambda: _tokenizer(folder),
        }
        for way in ways.values():
            way()
        found = {name: [_seconds(way) for _ in range(turns)] for name, way in ways.items()}
    rows = [[name, f"{median(took):.2f} s", f"{max(took):.2f} s"] for name, took in found.items()]
    print_table("A folder is loaded", ["what", f"median of {turns}", "slowest"], rows)
    print(f"{machine()}.")


def _seconds(way: Callable[[], object]) -> float:
    began = time.perf_counter()
    way()
    return time.perf_counter() - began


def _shapes(folder: Path) -> None:
    process = start_sandbox("shapes", folder)
    try:
        expected_shapes("tiny", inspect_folder(folder), process, AutoModelForCausalLM, lambda: None)
    finally:
        process.close()


def _tokenizer(folder: Path) -> None:
    tokenizer = SandboxedTokenizer(folder)
    try:
        tokenizer.load("tiny", lambda: None)
    finally:
        tokenizer.close()


if __name__ == "__main__":
    main()
