"""Compares our pictures of one text with BertViz's for the same model and text, in time and bytes."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from benchmarks import _llama
from benchmarks._table import print_table
from inline.show import Kind, show
from model_runner import Capture, CaptureRequest
from model_runner.byte_lru import ByteBudgetCache
from model_runner.local.runner import LocalRunner

N_TOKENS = 128
ROUNDS = 5


def compare_pictures() -> None:
    """Print the table; without BertViz, only our rows."""
    words = _llama.text(N_TOKENS)
    runner = LocalRunner(_llama.random_llama(), _llama.word_tokenizer(), name="random Llama", kept=ByteBudgetCache(0))

    def capture() -> Capture:
        return runner.capture(CaptureRequest(text=words))

    captured = capture()
    ours = [
        ("ours: a capture, then every head and one head's map in a notebook", lambda: _cells(capture(), "grid", "map")),
        ("ours: every head of the same capture", lambda: _cells(captured, "grid")),
        ("ours: another head's map", lambda: _cells(captured, "map")),
        ("ours: its lines", lambda: _cells(captured, "lines")),
    ]
    rows = [_row(name, draw) for name, draw in ours]
    rows += [_row(name, draw) for name, draw in _bertviz(words)]
    print_table(f"Pictures of 12 × 12 heads at T = {N_TOKENS}, median of {ROUNDS}", ["", "time", "bytes"], rows)


def _row(name: str, draw: Callable[[], list[bytes]]) -> list[str]:
    times, size = [], 0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        size = sum(map(len, draw()))
        times.append(time.perf_counter() - started)
    return [name, f"{median(times) * 1000:,.0f} ms", f"{size / 1e6:,.2f} MB"]


def _cells(capture: Capture, *kinds: Kind) -> list[bytes]:
    """The output of a notebook's cell for each of these pictures of one head; it works offline."""
    return [show(capture, 3, 7, kind=kind).html.encode() for kind in kinds]


def _bertviz(words: str) -> list[tuple[str, Callable[[], list[bytes]]]]:
    """Its head view and model view, as returned HTML; every weight of every head is in it."""
    try:
        from bertviz import head_view, model_view  # pyright: ignore[reportMissingImports]  # optional
    except ImportError:
        return []
    model, tokenizer = _llama.random_llama("eager").model, _llama.word_tokenizer()
    ids = tokenizer(words, return_tensors="pt").input_ids
    tokens = tokenizer.convert_ids_to_tokens(ids[0])

    def draw(view: Any) -> list[bytes]:
        with torch.no_grad():
            attentions = model(input_ids=ids, use_cache=False, output_attentions=True).attentions
        return [view(attentions, tokens, html_action="return").data.encode()]

    return [
        ("BertViz 1.4.1 head_view: a forward with output_attentions, then HTML", lambda: draw(head_view)),
        ("BertViz 1.4.1 model_view: the same", lambda: draw(model_view)),
    ]
