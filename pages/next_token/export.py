"""Export of the page Next token: the bench as a page, its bars as a picture, every number, and Python code."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from analysis.joined import first_query
from model_runner.sampling import draw, uniforms
from model_runner.transforms import DEFAULT, Sampling
from pages.next_token.plain_code import generating, plain_lines
from pages.next_token.views import Bench, bench_payload, tables_of
from ui.shared.export_bundle import ExportBundle
from viz.components.sampling_bench import sampling_bench as picture
from viz.components.sampling_bench.bars_svg import Panel, bars_svg
from viz.export import standalone_html
from viz.share_text import LEAST

SHOWN = 15  # tokens in the picture


def next_token_view(bench: Bench) -> ExportBundle:
    """The bench; files that are costly for a large vocabulary are made on request."""

    def page(title: str, words: str, language: str) -> bytes:
        return standalone_html(picture.SOURCE, bench_payload(bench), title=title, caption=words, lang=language)

    return ExportBundle(
        name=f"next-token-{bench.position}",
        title=bench.texts["after"].format(text=bench.after),
        what=what(bench),
        tables=lambda: tables_of(bench),
        rows=lambda: rows(bench),
        page=page,
        picture=lambda title, words: svg(bench, title, words),
        code=code(bench),
        arrays=lambda: arrays(bench),
        files={"transformers.py": lambda: generating(bench).encode()} if plain_lines(bench) else {},
    )


def what(bench: Bench) -> str:
    """The token's position, and how it is chosen."""
    settings = [f"{name}: {sampling}" for name, sampling in bench.settings.items()]
    drawn = [f"{bench.draws} draws"] if bench.draws else []
    return " · ".join([f"token at position {bench.position}", *settings, *drawn])


def drawn_tokens(bench: Bench, sampling: Sampling) -> list[int]:
    """The ids drawn from the last stage, in order."""
    last = bench.stages(sampling)[-1].probabilities
    return [draw(last, uniform) for uniform in uniforms(bench.a.seed, bench.position, bench.draws)]


def code(bench: Bench) -> str:
    """Code for the same numbers."""
    first = first_query(bench.capture)  # the source was not generated
    lines = [
        "\nfrom attention_atlas.model_runner.sampling import draw, stages, uniforms\n"
        "from attention_atlas.model_runner.transforms import Sampling\n",
        f"logits = capture.logits({bench.query})",
        f"previous = [token.id for token in capture.tokens[{first or ''}: {bench.query + 1}]]",
    ]
    for name, sampling in bench.settings.items():
        suffix = f"_{name.lower()}" if bench.compare else ""
        lines.append(f"done{suffix} = stages(logits, {sampling}, previous)  # one for each transform")
        lines.append(f"probabilities{suffix} = done{suffix}[-1].probabilities")
    if bench.draws:
        lines.append(f"numbers = uniforms({bench.a.seed}, {bench.position}, {bench.draws})")
        lines += [
            f"drawn{suffix} = [draw(probabilities{suffix}, number) for number in numbers]"
            for suffix in (("_a", "_b") if bench.compare else ("",))
        ]
    return "\n".join(lines)


def rows(bench: Bench) -> pd.DataFrame:
    """Every token of the vocabulary with its probability at every stage."""
    columns: dict[str, np.ndarray] = {}
    for name, sampling in bench.settings.items():
        done = bench.stages(sampling)
        columns |= {f"{name} {i} {stage.name}": stage.probabilities.numpy() for i, stage in enumerate(done)}
    return pd.DataFrame(columns, index=[f"{token} {label}" for token, label in enumerate(bench.labels)])


def arrays(bench: Bench) -> dict[str, np.ndarray]:
    """The logits, the probabilities at every stage, and the ids drawn."""
    found = {
        "logits": bench.capture.logits(bench.query).numpy(force=True),
        "previous": np.array(bench.previous, dtype=np.int64),
    }
    for name, sampling in bench.settings.items():
        done = bench.stages(sampling)
        found[f"{name}_stages"] = np.array([stage.name for stage in done])
        found[f"{name}_probabilities"] = np.stack([stage.probabilities.numpy() for stage in done])
        if bench.draws:
            found[f"{name}_drawn"] = np.array(drawn_tokens(bench, sampling), dtype=np.int64)
    return found


def svg(bench: Bench, title: str, words: str) -> str:
    """The bars of the likeliest tokens."""
    order = bench.likeliest(SHOWN)
    own = bench.stages(DEFAULT)[0].probabilities
    panels: list[Panel] = []
    for name, sampling in bench.settings.items():
        last = bench.stages(sampling)[-1]
        final = last.probabilities[order].clamp(min=LEAST).where(last.keep[order], 0.0).tolist()
        beyond = last.kept > sum(p > 0 for p in final)
        counts = Counter(drawn_tokens(bench, sampling)) if bench.draws else Counter[int]()
        drawn = [counts[token] for token in order]
        panels.append(
            Panel(
                name=f"{name} · {sampling}" if bench.compare else f"{sampling}",
                final=final,
                rest=max(LEAST, 1 - sum(final)) if beyond else 0.0,
                drawn=drawn if bench.draws else (),
                rest_drawn=bench.draws - sum(drawn),
            )
        )
    shown = own[order].tolist()
    return bars_svg(
        [bench.labels[token] for token in order],
        shown,
        panels,
        rest=(len(bench.labels) - len(order), max(0.0, 1 - sum(shown))),
        title=title,
        caption=words,
        texts=bench.texts,
    )
