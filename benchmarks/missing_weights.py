"""What it costs at each load to check that the files hold every tensor that a forward reads.

    python -m benchmarks.missing_weights [--turns 7]

The embedded model, a small translation model whose class exempts two tensors from the report, and the same with one
tensor missing. For a complete folder only names are compared; only missing tensors are tested.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from transformers import AutoModelForSeq2SeqLM

from benchmarks._table import machine, print_table
from model_runner.errors import ModelIncomplete
from model_runner.local.loading import loader
from tests.model_runner.folders import change_weights, save
from tests.model_runner.tiny import D_MODEL, N_HEADS, tiny

LOST = "model.decoder.layers.1.encoder_attn.q_proj.weight"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as place:
        whole, torn = (save(Path(place) / name, _translator()) for name in ("whole", "torn"))
        change_weights(torn, lambda tensors: {name: one for name, one in tensors.items() if name != LOST})
        names = {"the embedded model": "default", "a translator": str(whole), "one weight missing": str(torn)}
        rows: list[list[str]] = []
        for what, name in names.items():
            took = [_seconds(name) for _ in range(turns + 1)][1:]  # the first run imports
            load, check = (median(part) for part in zip(*took, strict=True))
            rows.append([what, f"{load * 1e3:.0f} ms", f"{check * 1e3:.2f} ms", f"{check / load:.1%}"])
    print_table("Is every weight there", ["what", f"its load, median of {turns}", "this check", "share"], rows)
    print(f"{machine()}.")


def _translator() -> Any:
    sides = {"layers": 3, "attention_heads": N_HEADS, "ffn_dim": 48}
    sizes = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in sides.items()}
    return tiny("marian", AutoModelForSeq2SeqLM, d_model=D_MODEL, **sizes, decoder_start_token_id=258)()


def _seconds(name: str) -> tuple[float, float]:
    """Seconds of a load, and of the check in it."""
    spent: list[float] = []
    check = loader.check_missing
    loader.check_missing = partial(_timed, check, spent)
    began = time.perf_counter()
    try:
        with suppress(ModelIncomplete):
            loader.load_runner(name, device="cpu")
        return time.perf_counter() - began, sum(spent)
    finally:
        loader.check_missing = check


def _timed(work: Callable[..., Any], spent: list[float], *given: Any) -> Any:
    began = time.perf_counter()
    try:
        return work(*given)
    finally:
        spent.append(time.perf_counter() - began)


if __name__ == "__main__":
    main()
