"""Is memory released when a model is evicted? Folders of some 200 MB, one after another, through the server's cache.

    python -m benchmarks.models_freed [--folders 4] [--megabytes 200]

Each is opened in one process, captured with once, and left for the next; the last two stay. The resident memory is
printed after each. The folders hold random Llamas, which another process makes for this and deletes at the end.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from benchmarks._llama import VOCAB, text, word_tokenizer
from benchmarks._table import Target, machine, print_table

D_MODEL, N_LAYERS, TOKENS = 512, 8, 256
WAYS = ("make", "open")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", type=int, default=4)
    parser.add_argument("--megabytes", type=int, default=200, help="of weights in each folder, about")
    parser.add_argument("--only", choices=WAYS, help="one of the two processes")
    parser.add_argument("--place", type=Path)
    options = parser.parse_args(arguments)
    if options.only == "make":
        _make(options.place, options.folders, options.megabytes)
    elif options.only == "open":
        _open(options.place, options.folders)
    else:
        _both(options.folders, options.megabytes)


def _both(folders: int, megabytes: int) -> None:
    place = Path(tempfile.mkdtemp())
    try:
        _apart("make", place, folders, megabytes)
        told = _apart("open", place, folders, megabytes)
    finally:
        shutil.rmtree(place)
    sizes = [int(line) for line in told.split()]
    start, size, *after = sizes
    rows = [["start: the embedded model", "1", _size(start), _size(0)]]
    for number, resident in enumerate(after, 1):
        rows.append([f"after folder {number}", "2", _size(resident), _size(resident - start)])
    print_table(f"{folders} folders of {_size(size)} each", ["", "models held", "process", "above start"], rows)
    if folders > 2:
        most = Target(0.5 * size / 1e6, " MB")  # one more model would be twice that
        grown = (after[-1] - after[1]) / 1e6
        print(f"grown since the second: {grown:,.0f} MB, {most} {most.verdict(grown)}")
    print(f"{machine()}.")


def _apart(way: str, place: Path, folders: int, megabytes: int) -> str:
    """Run this in its own process, and return its output."""
    command = [sys.executable, "-m", "benchmarks.models_freed", f"--only={way}", f"--place={place}"]
    command += [f"--folders={folders}", f"--megabytes={megabytes}"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.0f} MB"


def _make(place: Path, folders: int, megabytes: int) -> None:
    """Make the folders; the width of the feed-forward parts gives the requested size."""
    rest = 2 * VOCAB * D_MODEL + 4 * N_LAYERS * D_MODEL**2
    inner = max(64, (megabytes * 10**6 // torch.float32.itemsize - rest) // (3 * N_LAYERS * D_MODEL))
    for number in range(folders):
        torch.manual_seed(number)
        config = LlamaConfig(
            vocab_size=VOCAB, hidden_size=D_MODEL, intermediate_size=inner, num_hidden_layers=N_LAYERS,
            num_attention_heads=8, max_position_embeddings=TOKENS,
        )  # fmt: skip  # as many as fit
        folder = place / str(number)
        LlamaForCausalLM(config).save_pretrained(folder)
        word_tokenizer(TOKENS).save_pretrained(folder)


def _open(place: Path, folders: int) -> None:
    """Print bytes: what is resident at the start, a folder's weights, and what is resident after each folder."""
    from model_runner import CaptureRequest
    from model_runner.local.local_models import LocalModels

    own, cache = psutil.Process(), LocalModels(keep="32 MB")
    cache.runner("default", lambda *_said: None).capture(CaptureRequest(text="what is only done once"))
    print(own.memory_info().rss)
    print(sum(one.stat().st_size for one in (place / "0").glob("*.safetensors")))
    for number in range(folders):
        runner = cache.runner(str(place / str(number)), lambda *_said: None)
        runner.capture(CaptureRequest(text=text(TOKENS)))
        del runner
        print(own.memory_info().rss, flush=True)


if __name__ == "__main__":
    main()
