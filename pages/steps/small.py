"""Attention on a few small editable numbers: the first view of the page Step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from analysis.number_text import significant
from attention.small_attention import ExampleNumbers, ExampleSteps, small_attention, usual_numbers
from pages.steps.knobs import turn
from pages.steps.numbers import changed, numbers_of
from pages.steps.small_code import code_lines
from pages.steps.state import LARGEST_D, MOST_TOKENS, SMALLEST_D, USUAL, StepsState, cover, state
from ui.classroom.class_number import Numbered, ask_class
from ui.shared.code_pane import show_code, small_words
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding
from ui.shell.components import mount
from ui.shell.page import translated
from ui.state import session
from ui.state.controls import pick, switch
from ui.state.page_state import change, refuse
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.step_by_step import step_by_step
from viz.components.step_by_step.chain import StepSettings
from viz.matrices_svg import Table, matrices_svg

SHARED = """k, v = (one[:{count}].repeat_interleave(heads // {count}, dim=0) for one in (k, v))  # copies of rows
"""
KEPT = ("q", "k", "v", "scores", "weights", "output", "added")  # in the NPZ
FIRST = {"X": "x", "WQ": "w_q", "WK": "w_k", "WV": "w_v", "WO": "w_o"}


@dataclass(frozen=True, eq=False)
class Small:
    """What is in view: the numbers, everything computed from them, and how it is drawn."""

    numbers: ExampleNumbers
    steps: ExampleSteps
    heads: int
    head: int
    causal: bool
    scaled: bool
    payload: bytes
    kv_heads: int | None = None  # None: every head has its own


def show_small() -> Small:
    """Show what the last token attends to, the sizes, then the steps."""
    held = state()
    heads = _heads(held.d, held.heads)
    head, kv_heads = min(held.head, heads - 1), _kv_heads(heads, held.kv_heads)
    written = changed()
    numbers = numbers_of(held.tokens, held.d, written)
    steps = small_attention(numbers, n_heads=heads, n_kv_heads=kv_heads, causal=held.causal, scaled=held.scaled)
    if not held.ask:  # the finding would give a hidden weight away
        show_finding(*_finding(steps, head, held.step or USUAL))
    with st.container(key="steps_sizes", horizontal=True, vertical_alignment="center", gap="small"):
        words = _counted(_("{count} tokens"), range(1, MOST_TOKENS + 1)) | {1: _("1 token")}
        pick(StepsState, "tokens", held.tokens, words, width=180)
        pick(StepsState, "d", held.d, _counted(_("{count} dimensions"), range(SMALLEST_D, LARGEST_D + 1)), width=160)
        words = _counted(_("{count} heads"), divisors(held.d)) | {1: _("1 head")}
        pick(StepsState, "heads", heads, words, width=165)
        if heads > 1:
            pick(StepsState, "head", head, _counted(_("head {count}"), range(heads)), width=140)
            shared = [count for count in range(heads, 0, -1) if heads % count == 0]
            pick(StepsState, "kv_heads", kv_heads, {count: _shared(count, heads) for count in shared}, width=170)
        switch(StepsState, "causal", held.causal, _("mask"))
        switch(StepsState, "scaled", held.scaled, _("divide by √d"))
    usual = usual_numbers(held.tokens, held.d)
    payload = step_by_step.StepByStepPicture(
        usual={name: getattr(usual, field).tolist() for name, field in FIRST.items()},
        edits=written,
        settings=StepSettings(heads, head, held.causal, held.scaled, kv_heads=kv_heads),
        chain=None,
        step=held.step or USUAL,
        ask=cover(held.ask),
        texts=translated(step_by_step.TEXTS),
        room=session.room() is not None,
    ).packed()
    mount(step_by_step.SOURCE, payload, key="step_by_step", on=events(_by_step(numbers, steps, head)))
    lines = code_lines(numbers, n_heads=heads, n_kv_heads=kv_heads, causal=held.causal, scaled=held.scaled)
    show_code(lines, held.step or USUAL, small_words())
    return Small(numbers, steps, heads, head, held.causal, held.scaled, payload, kv_heads)


def _finding(steps: ExampleSteps, head: int, step: str) -> tuple[str, str]:
    """The key that the last query attends to most or, before there are weights, scores highest; HTML."""
    rows = {"scores": steps.scores, "scale": steps.scaled, "mask": steps.masked}.get(step, steps.weights)[head]
    query = len(rows) - 1
    key = int(rows[query].argmax())
    value = float(rows[query, key])
    weighs = step not in ("scores", "scale", "mask")
    words = _("{query} puts {value} on {key}") if weighs else _("{query} matches {key} best: {value}")
    said = words.format(
        query=f"<span class='atlas-q'>x{query}</span>",
        value=escape(number(value, "share") if weighs else significant(value, 4)),
        key=f"<span class='atlas-k'>x{key}</span>",
    )
    return said, escape(_("Small made-up numbers: click one of X or of a W and type."))


def _by_step(numbers: ExampleNumbers, steps: ExampleSteps, head: int) -> Numbered:
    own = {"q": steps.q, "k": steps.k, "v": steps.v, "scores": steps.scores, "scale": steps.scaled,
           "mask": steps.masked, "softmax": steps.weights, "mix": steps.output}  # fmt: skip  # a pair a name
    found = {step: values[head].tolist() for step, values in own.items()}
    return found | {"x": numbers.x.tolist(), "concat": steps.concat.tolist(), "out": steps.added.tolist()}


def events(numbers: Numbered) -> dict[str, Callable[[Any], None]]:
    """Event handlers of the steps: the open step, edited numbers, hidden results, and a question to the class."""
    return {
        "step": lambda step: change(StepsState, step=str(step)),
        "knobs": turn,
        "numbers": lambda written: change(StepsState, numbers=str(written)),
        "ask": lambda ask: change(StepsState, ask=bool(ask)),
        "class": lambda told: ask_class(numbers, told),
    }


def divisors(d: int) -> list[int]:
    """Numbers of heads that divide d into heads of at least two dimensions, and 1."""
    return [n for n in range(1, d // 2 + 1) if d % n == 0]


def _counted(words: str, counts: Iterable[int]) -> dict[int, str]:
    """Labels by count, such as: 3 → "3 tokens"."""
    return {count: words.format(count=count) for count in counts}


def _heads(d: int, wanted: int) -> int:
    """The wanted number of heads if it divides the dimensions, else one, which is reported."""
    if wanted in divisors(d):
        return wanted
    words = _("{d} dimensions cannot be shared out among {heads} heads of at least two; one head is shown.")
    refuse(StepsState, "heads", words.format(d=d, heads=wanted))
    return 1


def _shared(kv_heads: int, heads: int) -> str:
    """A label, such as: GQA · 2 kv heads."""
    kind = "MHA" if kv_heads == heads else "MQA" if kv_heads == 1 else "GQA"
    return _("{kind} · kv heads {count}").format(kind=kind, count=kv_heads)


def _kv_heads(heads: int, wanted: int | None) -> int:
    """The wanted number of key/value heads if it divides the query heads, else one each, which is reported."""
    if wanted is None or (wanted <= heads and heads % wanted == 0):
        return heads if wanted is None else wanted
    words = _("{heads} query heads cannot share {kv_heads} key/value heads evenly.")
    refuse(StepsState, "kv_heads", words.format(heads=heads, kv_heads=wanted))
    return heads


# -- export -----------------------------------------------------------------------------------------------------------


def small_view(found: Small) -> ExportBundle:
    """Every matrix of the open head."""
    tables = tables_of(found)
    frames = {table.name: pd.DataFrame(table.values, list(table.rows), list(table.columns)) for table in tables}
    result = frames.pop("A")
    n_tokens, d = found.numbers.x.shape
    return ExportBundle(
        name=f"attention-steps-{n_tokens}x{d}",
        title=_("Attention, step by step"),
        of_text=False,
        what=f"small made-up numbers, not the model's: {n_tokens} tokens, d = {d}, head {found.head} of {found.heads}",
        tables=lambda: {"A": result, **frames},
        page=component_page(step_by_step.SOURCE, found.payload),
        picture=lambda title, words: matrices_svg(tables, title=title, caption=words),
        arrays={name: getattr(found.steps, name).numpy() for name in KEPT},
        code=small_code(found),
        starts_with_capture=False,
    )  # fmt: skip  # one argument a line


def tables_of(found: Small) -> list[Table]:
    """The matrices in order of computation."""
    numbers, steps, head = found.numbers, found.steps, found.head

    def of(name: str, values: Any, rows: str, columns: str, *, share: bool = False) -> Table:
        n_rows, n_columns = values.shape
        across = [f"{columns}{j}" for j in range(n_columns)]
        return Table(name, [f"{rows}{i}" for i in range(n_rows)], across, values.numpy(), share=share)

    return [
        of("X", numbers.x, "x", ""),
        of("W_Q", numbers.w_q, "", ""), of("W_K", numbers.w_k, "", ""), of("W_V", numbers.w_v, "", ""),
        of("Q", steps.q[head], "q", ""), of("K", steps.k[head], "k", ""), of("V", steps.v[head], "v", ""),
        of("Q Kᵀ", steps.scores[head], "q", "k"),
        of("S", steps.scaled[head], "q", "k"),
        of("S + mask", steps.masked[head], "q", "k"),
        of("A", steps.weights[head], "q", "k", share=True),
        of("O", steps.output[head], "o", ""),
        of("concat", steps.concat, "z", ""), of("W_O", numbers.w_o, "", ""), of("Y", steps.added, "y", ""),
    ]  # fmt: skip  # a step a line


def small_code(found: Small) -> str:
    """Code for the same numbers, with torch alone."""
    first = "\n".join(
        f"{name} = torch.tensor({getattr(found.numbers, name).tolist()}, dtype=torch.float64)"
        for name in FIRST.values()
    )
    scale = "" if found.scaled else ", scale=1.0"
    shared = "" if found.kv_heads in (None, found.heads) else SHARED.format(count=found.kv_heads)
    return (
        "import torch\nfrom torch.nn.functional import scaled_dot_product_attention\n\n"
        f"{first}\n\n"
        f"n_tokens, d, heads = {len(found.numbers.x)}, {found.numbers.x.shape[1]}, {found.heads}\n"
        "q, k, v = ((x @ w).reshape(n_tokens, heads, d // heads).transpose(0, 1) for w in (w_q, w_k, w_v))\n"
        f"{shared}"
        f"output = scaled_dot_product_attention(q, k, v, is_causal={found.causal}{scale})\n"
        "added = output.transpose(0, 1).reshape(n_tokens, d) @ w_o"
    )
