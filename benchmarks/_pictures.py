"""Our pictures of one text beside BertViz' of the same model and text: time and bytes."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import torch

from analysis.head_grid import head_grid
from analysis.head_map import Reading, head_map
from benchmarks import _llama
from benchmarks._table import print_table
from model_runner import Capture, CaptureRequest
from model_runner.local import LocalRunner
from viz.components.head_grid import head_grid as grid_component
from viz.components.head_map import head_map as map_component
from viz.export import standalone_html

N_TOKENS = 128
ROUNDS = 5


def compare_pictures() -> None:
    """Print the table; without BertViz, our rows alone."""
    words = _llama.text(N_TOKENS)
    runner = LocalRunner(_llama.random_llama(), _llama.word_tokenizer(), name="random Llama", cache_bytes=0)

    def capture() -> Capture:
        return runner.capture(CaptureRequest(text=words))

    captured = capture()
    ours = [
        ("ours: a capture, then every head as a thumbnail and one head's map", lambda: _opened(capture())),
        ("ours: another head, from the same capture", lambda: [_map(captured, 3, 7)]),
        ("ours: one head's map as HTML that opens offline", lambda: [_html(captured)]),
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


def _opened(capture: Capture) -> list[bytes]:
    return [_grid(capture), _map(capture, 0, 0)]


def _grid(capture: Capture) -> bytes:
    grid = head_grid(capture)
    return grid_component.payload(
        thumbnails=grid.thumbnails,
        keep=grid.keep,
        metric=grid.metrics["entropy"],
        mode="maps",
        order=None,
        layer_has_weights=grid.has_weights,
        selected=(0, 0),
        compare=None,
        groups=1,
        texts={},
    )


def _map(capture: Capture, layer: int, head: int) -> bytes:
    view = head_map(capture, layer, head, reading=Reading())
    labels = [unit.label for unit in view.units]
    window = view.window
    return map_component.payload(
        values=view.values.astype(np.float32),
        window=(window.q0, window.q1, window.k0, window.k1),
        total=(len(labels), len(labels)),
        row_labels=labels,
        col_labels=labels,
        scale="sequential",
        low=0.0,
        high=1.0,
        log=False,
        selected=None,
        pool=view.pool,
        number="percent",
        texts={},
    )


def _html(capture: Capture) -> bytes:
    return standalone_html(map_component.SOURCE, _map(capture, 0, 0), title="L0H0", caption="", lang="en")


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
