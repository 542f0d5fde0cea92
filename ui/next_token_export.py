"""What the page Next token gives away: the bench as a page, its bars as a picture, every number, and the code."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

import numpy as np

from model_runner.sampling import RULES, Sampling, draw, uniforms
from ui.next_token_views import Bench, bench_payload
from ui.page import translated
from ui.take_away import TakeAway, changed_by, python_start, show_take_away
from viz.components.sampling_bench import sampling_bench as picture
from viz.components.sampling_bench.bars_svg import Panel, bars_svg
from viz.export import csv_bytes, npz_bytes, standalone_html

SHOWN = 15  # tokens in the picture


def take_next_away(bench: Bench) -> None:
    """The menu of the page."""
    rules, texts = translated(RULES), translated(picture.TEXTS)

    def page(lang: str) -> bytes:
        payload = bench_payload(bench, rules=rules, texts=texts)
        return standalone_html(picture.SOURCE, payload, title=heading(bench, texts), caption=caption(bench), lang=lang)

    show_take_away(
        TakeAway(
            name=f"next-token-{bench.position}",
            html=page,
            csv=lambda: csv(bench),
            npz=lambda: npz(bench),
            snippet=snippet(bench),
            svg=lambda: svg(bench, texts),
        )
    )


def heading(bench: Bench, texts: dict[str, str]) -> str:
    """The title of the picture."""
    return texts["after"].format(text=bench.after)


def caption(bench: Bench) -> str:
    """What the files say of themselves."""
    info = bench.opened.runner.info
    model = info.name if info.revision is None else f"{info.name} @ {info.revision}"
    settings = [f"{name}: {_call(sampling)}" for name, sampling in bench.settings.items()]
    drawn = [f"{bench.draws} draws"] if bench.draws else []
    changed = [words] if (words := changed_by(bench.opened.capture.request.edits)) else []
    parts = [
        model,
        info.family,
        info.dtype,
        f"token at position {bench.position}",
        *settings,
        *drawn,
        *changed,
        "Attention Atlas",
    ]
    return " · ".join(parts)


def drawn_tokens(bench: Bench, sampling: Sampling) -> list[int]:
    """The ids drawn from the last stage, in the order they were drawn."""
    last = bench.stages(sampling)[-1].probabilities
    return [draw(last, uniform) for uniform in uniforms(bench.a.seed, bench.position, bench.draws)]


def snippet(bench: Bench) -> str:
    """The same numbers over the public API."""
    lines = [
        python_start(bench.opened),
        "from model_runner.sampling import Sampling, draw, stages, uniforms\n",
        f"logits = capture.logits({bench.query})",
        f"previous = [token.id for token in capture.tokens[: {bench.position}]]",
    ]
    for name, sampling in bench.settings.items():
        suffix = f"_{name.lower()}" if bench.compare else ""
        lines.append(f"done{suffix} = stages(logits, {_call(sampling)}, previous)  # one for each transform")
        lines.append(f"probabilities{suffix} = done{suffix}[-1].probabilities")
    if bench.draws:
        lines.append(f"numbers = uniforms({bench.a.seed}, {bench.position}, {bench.draws})")
        lines += [
            f"drawn{suffix} = [draw(probabilities{suffix}, number) for number in numbers]"
            for suffix in (("_a", "_b") if bench.compare else ("",))
        ]
    return "\n".join(lines)


def _call(sampling: Sampling) -> str:
    """The settings as Python writes them, defaults left out."""
    plain = Sampling()
    given = [
        f"{field.name}={getattr(sampling, field.name)!r}"
        for field in fields(sampling)
        if getattr(sampling, field.name) != getattr(plain, field.name)
    ]
    return f"Sampling({', '.join(given)})"


def csv(bench: Bench) -> bytes:
    """Every token of the vocabulary with its probability at every stage."""
    columns: dict[str, np.ndarray] = {}
    for name, sampling in bench.settings.items():
        done = bench.stages(sampling)
        columns |= {f"{name} {i} {stage.name}": stage.probabilities.numpy() for i, stage in enumerate(done)}
    labels = [f"{token} {label}" for token, label in enumerate(bench.labels)]
    return csv_bytes(np.stack(list(columns.values()), axis=1), labels, list(columns), caption(bench))


def npz(bench: Bench) -> bytes:
    """The logits, the probabilities of every stage, and the ids drawn."""
    arrays = {
        "logits": bench.capture.logits(bench.query).numpy(force=True),
        "previous": np.array(bench.previous, dtype=np.int64),
    }
    for name, sampling in bench.settings.items():
        done = bench.stages(sampling)
        arrays[f"{name}_stages"] = np.array([stage.name for stage in done])
        arrays[f"{name}_probabilities"] = np.stack([stage.probabilities.numpy() for stage in done])
        if bench.draws:
            arrays[f"{name}_drawn"] = np.array(drawn_tokens(bench, sampling), dtype=np.int64)
    return npz_bytes(arrays, caption(bench))


def svg(bench: Bench, texts: dict[str, str]) -> str:
    """The bars of the likeliest tokens."""
    order = bench.likeliest(SHOWN)
    own = bench.stages(Sampling())[0].probabilities
    panels: list[Panel] = []
    for name, sampling in bench.settings.items():
        last = bench.stages(sampling)[-1]
        final = last.probabilities[order].tolist()
        beyond = last.kept > sum(p > 0 for p in final)
        counts = Counter(drawn_tokens(bench, sampling)) if bench.draws else Counter[int]()
        drawn = [counts[token] for token in order]
        panels.append(
            Panel(
                name=f"{name} · {_call(sampling)}" if bench.compare else _call(sampling),
                final=final,
                rest=max(0.0, 1 - sum(final)) if beyond else 0.0,
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
        title=heading(bench, texts),
        caption=caption(bench),
        texts=texts,
    )
