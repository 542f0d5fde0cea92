"""What the page KV cache gives away: its figures as a page, their numbers, and the code that gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ui.kv_race import RaceRun, race_figures
from ui.kv_sizes import Sizes, published_figure, sharing_figure, tokens_chosen
from ui.kv_what_if import CONTINUED, Curve, Question, curve_figure
from ui.page import Opened
from ui.take_away import TakeAway, python_start, show_take_away
from viz.curves import standalone
from viz.export import csv_bytes, npz_bytes


def take_race_away(opened: Opened, run: RaceRun, tables: dict[str, pd.DataFrame]) -> None:
    """The menu of the page while the race is in view."""
    text = opened.capture.request.text
    lines = [
        "from model_runner import GenerateRequest",
        "",
        f"race = runner.kv.race(GenerateRequest(text={text!r}, max_new_tokens={run.length}))",
        "steps = list(race)  # one token of both lanes each",
        "with_cache = sum(step.cached_seconds for step in steps)",
        "without = sum(step.uncached_seconds for step in steps)",
        "equal = all(step.cached.id == step.uncached.id for step in steps)",
    ]
    _take(opened, "kv-race", "greedy continuation with and without the cache", race_figures(run), tables, lines)


def take_sizes_away(opened: Opened, held: Sizes, tables: dict[str, pd.DataFrame]) -> None:
    """The same for the bytes."""
    text = opened.capture.request.text
    lines = [
        f"layers = runner.kv.submit_layers(CaptureRequest(text={text!r})).result()",
        "measured = sum(layer.n_bytes for layer in layers)",
    ]
    figures = [sharing_figure(held, opened.runner.info.n_heads), published_figure(tokens_chosen())]
    _take(opened, "kv-bytes", "bytes of keys and values", figures, tables, lines)


def take_what_if_away(opened: Opened, curve: Curve, question: Question, tables: dict[str, pd.DataFrame]) -> None:
    """The same for the changed cache."""
    text = opened.capture.request.text
    edit = "Int8Cache()" if question.window is None else f"KeepLast({question.window}, sinks={question.sinks})"
    lines = [
        "from model_runner import GenerateRequest",
        f"from model_runner.edits import {edit.partition('(')[0]}",
        "",
        f"edits = ({edit},)",
        f"changed = runner.capture(CaptureRequest(text={text!r}, edits=edits))",
        "before, after = (one.logits(-1).double().log_softmax(-1) for one in (capture, changed))",
        "kl = (before.exp() * (before - after)).sum()  # nats",
        f"request = GenerateRequest(text={text!r}, max_new_tokens={CONTINUED}, edits=edits)",
        "continuation = [step.token.text for step in runner.generate(request)]",
    ]
    name = "KL(next token with the full cache ‖ with the changed one), nats"
    _take(opened, "kv-what-if", name, [curve_figure(curve, question)], tables, lines)


def _take(
    opened: Opened,
    name: str,
    what: str,
    figures: Sequence[Any],
    tables: dict[str, pd.DataFrame],
    lines: list[str],
) -> None:
    info = opened.runner.info
    model = info.name if info.revision is None else f"{info.name} @ {info.revision}"
    words = f"{model} · {info.family} · {info.dtype} · {info.device} · {what} · Attention Atlas"
    first = next(iter(tables.values()))
    arrays = {f"table_{number}": table.to_numpy(np.float64) for number, table in enumerate(tables.values())}
    arrays |= {f"columns_{number}": np.array(table.columns, str) for number, table in enumerate(tables.values())}
    arrays |= {f"rows_{number}": np.array(table.index, str) for number, table in enumerate(tables.values())}
    show_take_away(
        TakeAway(
            name=name,
            html=lambda lang: standalone(figures, title=what, caption=words, lang=lang),
            csv=lambda: csv_bytes(first.to_numpy(np.float64), list(first.index), list(first.columns), words),
            npz=lambda: npz_bytes(arrays, words),
            snippet="\n".join([python_start(opened), *lines]),
        )
    )
