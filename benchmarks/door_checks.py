"""What share of loading a folder, in CPU time, is spent on checks before its numbers are trusted.

    python -m benchmarks.door_checks [--turns 7]

A Llama of 4 layers and 512 dimensions in bfloat16, with a byte-level BPE tokenizer of 50,000 entries and the merges for
them, is loaded like a visitor's. tokenizer.json is read once by the generic class, and once by a class of its own
(GPT-2's), whose ids are compared with the file's. Target: 5 % of the rest of the load. The sandbox's check of a
visitor's tokenizer before it is opened here, which reads megabytes of JSON for safety alone, is listed separately.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from benchmarks._table import Target, machine, print_table
from model_runner.local.loading import folder_tokenizer, loader

SANDBOX = "whether the tokenizer needs a process apart"  # only for a visitor's folder, before it is opened
N_LAYERS, D_MODEL, N_HEADS, VOCAB = 4, 512, 8, 50_000
SHARE = Target(5, " %")
CHECKS: dict[str, tuple[tuple[Any, str], ...]] = {  # what each check is, and where the load calls it
    "headers and config.json": ((loader, "inspect_folder"), (loader, "harmless_config"), (loader, "declared_here")),
    "the tokenizer cuts as tokenizer.json": ((folder_tokenizer, "_by_file"),),
    "every weight is there": ((loader, "check_missing"),),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    turns = parser.parse_args().turns
    torch.set_num_threads(1)  # threads that wait also use CPU time
    with tempfile.TemporaryDirectory() as place:
        folder = _folder(Path(place))
        for name in ("PreTrainedTokenizerFast", "GPT2Tokenizer"):
            _read_by(folder, name)
            took = [_seconds(folder) for _ in range(turns + 1)][1:]  # the first run imports
            print_table(f"Door checks, {name}", ["what", f"CPU time, median of {turns}", "share"], _rows(took))
    print(f"{machine()}.")


def _rows(took: Sequence[Mapping[str, float]]) -> list[list[str]]:
    """Each check, their total, and whether it meets the target; shares are of the rest of the load."""
    rest = [one["whole"] - sum(one[what] for what in (*CHECKS, SANDBOX)) for one in took]
    spent = {what: [one[what] for one in took] for what in CHECKS}
    spent["all of these"] = [sum(one[what] for what in CHECKS) for one in took]
    spent[SANDBOX] = [one[SANDBOX] for one in took]
    rows: list[list[str]] = []
    for what, seconds in spent.items():
        share = 100 * median(part / whole for part, whole in zip(seconds, rest, strict=True))
        verdict = f": {SHARE.verdict(share)}" if what == "all of these" else ""
        rows.append([what, f"{median(seconds) * 1e3:.1f} ms", f"{share:.1f} %{verdict}"])
    return [*rows, ["the rest of the load", f"{median(rest) * 1e3:.0f} ms", ""]]


def _folder(place: Path) -> Path:
    """The model and its tokenizer, with random numbers and words that are the same at every call."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_size": D_MODEL, "intermediate_size": 4 * D_MODEL, "num_hidden_layers": N_LAYERS}
    config = LlamaConfig(**sizes, num_attention_heads=N_HEADS, vocab_size=VOCAB, max_position_embeddings=2048)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(place)  # type: ignore[arg-type]  # torch's `to`, typed by a decorator
    PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(), eos_token="<|endoftext|>", bos_token="<|endoftext|>"
    ).save_pretrained(place)
    return place


def _tokenizer() -> Tokenizer:
    """Byte-level BPE whose merges join existing tokens in pairs."""
    draws, alphabet = random.Random(0), sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab, merges = {symbol: idx for idx, symbol in enumerate(alphabet)}, list[tuple[str, str]]()
    known = list(alphabet)
    while len(vocab) < VOCAB - 1:
        left, right = draws.choice(known), draws.choice(known)
        if len(left + right) <= 12 and left + right not in vocab:
            vocab[left + right] = len(vocab)
            known.append(left + right)
            merges.append((left, right))
    made = Tokenizer(models.BPE(vocab, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["<|endoftext|>"])
    return made


def _read_by(folder: Path, name: str) -> None:
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), "tokenizer_class": name}), "utf-8")


def _seconds(folder: Path) -> dict[str, float]:
    """CPU time of one load, and of each of the CHECKS in it."""
    spent = dict.fromkeys((*CHECKS, SANDBOX), 0.0)
    with ExitStack() as stack:
        for what, places in (*CHECKS.items(), (SANDBOX, ((loader, "harmless_tokenizer"),))):
            for module, name in places:
                stack.enter_context(patch.object(module, name, _timed(getattr(module, name), spent, what)))
        began = time.process_time()
        loader.load_runner(str(folder), device="cpu", sandboxed=True)
        return {**spent, "whole": time.process_time() - began}


def _timed(work: Callable[..., Any], spent: dict[str, float], what: str) -> Callable[..., Any]:
    def timed(*given: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return work(*given, **named)
        finally:
            spent[what] += time.process_time() - began

    return timed


if __name__ == "__main__":
    main()
