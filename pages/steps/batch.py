"""Attention in practice: two texts in one batch with padding, and a decoding step with a KV cache."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.number_text import significant
from attention.batched_attention import DROPPED, HIDDEN, BatchedSteps, cached_step, padded_batch
from attention.small_attention import ExampleNumbers
from pages.steps.chains import show_chain
from pages.steps.numbers import changed, numbers_of
from pages.steps.small import divisors
from pages.steps.small_code import cached_lines, padded_lines
from pages.steps.state import MOST_TOKENS, Batch, Fill, Item, Side, StepsState, state
from ui.shared.chain_matrix import drawn_matrix
from ui.shared.code_pane import CodeLine, code_text, show_code, small_words
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding
from ui.state.controls import choose, pick, switch
from ui.wording.i18n import _
from viz.components.step_by_step import step_by_step
from viz.components.step_by_step.chain import DrawnChain, DrawnStep, Light
from viz.matrices_svg import Table, matrices_svg

FIRST = "softmax"  # the first step that shows the effect of padding and cache


@dataclass(frozen=True, eq=False)
class BatchView:
    """The matrices of one text of the batch, and the code for the whole batch."""

    which: Batch
    tables: dict[str, Table]
    lines: list[CodeLine]
    what: str
    payload: bytes


def show_batch() -> BatchView:
    """Show the sizes, the finding, the steps of one text and the code."""
    held = state()
    n = max(2, held.tokens)
    heads = held.heads if held.heads in divisors(held.d) else 1
    finding = st.container()  # above the sizes that change it
    with st.container(key="steps_sizes", horizontal=True, vertical_alignment="center", gap="small"):
        pick(
            StepsState,
            "tokens",
            n,
            {one: _("{count} tokens").format(count=one) for one in range(2, MOST_TOKENS + 1)},
            width=150,
        )
        short, cached = min(held.short, n - 1), min(held.cached, n - 1)
        if held.batch == "padding":
            _padding_controls(n, short)
        else:
            words = {one: _("{count} in the cache").format(count=one) for one in range(n)}
            pick(StepsState, "cached", cached, words, width=180)
    numbers = numbers_of(n, held.d, changed())
    if held.batch == "cached":
        return _show_cached(numbers, cached, heads, finding)
    return _show_padded(numbers, short, heads, finding)


def _padding_controls(n: int, short: int) -> None:
    """Controls for the second text's length, the open text, the padding side, and the fill value of masked cells."""
    held = state()
    words = {one: _("second text: {count} of them").format(count=one) for one in range(1, n)}
    pick(StepsState, "short", short, words, width=210)
    items: dict[Item, str] = {"0": _("text 1"), "1": _("text 2")}
    choose(StepsState, "item", held.item, items)
    sides: dict[Side, str] = {"right": _("padding right"), "left": _("padding left")}
    choose(StepsState, "side", held.side, sides)
    fills: dict[Fill, str] = {"inf": "−∞", "1e9": "−1e9"}
    choose(StepsState, "fill", held.fill, fills)
    switch(StepsState, "causal", held.causal, _("mask"))
    switch(StepsState, "dropout", held.dropout, _("dropout, as in training"))


# -- two texts --------------------------------------------------------------------------------------------------------


def _show_padded(numbers: ExampleNumbers, short: int, heads: int, finding: DeltaGenerator) -> BatchView:
    held = state()
    fill = -math.inf if held.fill == "inf" else HIDDEN
    steps = padded_batch(
        numbers, short, n_heads=heads, causal=held.causal, side=held.side, fill=fill, dropout=held.dropout
    )
    item = int(held.item)
    real = steps.real[item].tolist()
    names = [f"x{sum(real[:at])}" if one else f"PAD{at - sum(real[:at])}" for at, one in enumerate(real)]
    with finding:
        show_finding(*_of_padding(steps, len(numbers.x), short), of_several=True)
    tables = _tables(steps, item, names, names)
    if held.dropout:
        tables["D"] = Table("D", tables["A"].rows, tables["A"].columns, steps.dropped[item, 0].numpy())
    payload = _show_chain(steps, item, tables, _padded_notes(steps, item), _why_padded(steps, item, names))
    lines = padded_lines(
        numbers, short, n_heads=heads, causal=held.causal, side=held.side, fill=held.fill, dropout=held.dropout
    )
    show_code(lines, held.step or FIRST, small_words())
    what = f"small made-up numbers, not the model's: text {item + 1} of a batch of two, padded {held.side}"
    return BatchView("padding", tables, lines, what, payload)


def _of_padding(steps: BatchedSteps, n: int, short: int) -> tuple[str, str]:
    """How much of the batch is padding, and what happens to its rows; HTML."""
    said = _("{padding} of {total} rows of the batch are padding").format(padding=n - short, total=2 * n)
    if bool(steps.weights.isnan().any()):
        words = _("a row of padding sees no key at all: with −∞ its softmax is 0 ÷ 0 = NaN; −1e9 keeps it finite")
    else:
        words = _("no real token gives them weight; what they make themselves is computed and left out of the loss")
    return escape(said), escape(words)


def _padded_notes(steps: BatchedSteps, item: int) -> dict[str, str]:
    real = int(steps.real[item].sum())
    return {
        "x": _(
            "{real} tokens and {padding} rows of zeros: all texts of a batch have the length of the longest."
        ).format(real=real, padding=len(steps.real[item]) - real),
        "mask": _(
            "The padding mask hides whole columns: no query attends to padding. It is joined with the causal one."
        ),
        "softmax": _("Hidden cells get no weight. In training, dropout follows: some weights are set to 0 at random."),
        "mix": _("A row of padding gets a mixture too. It is ignored: nothing reads it, and the loss leaves it out."),
    }


def _why_padded(steps: BatchedSteps, item: int, names: list[str]) -> list[list[list[str]]]:
    """For every cell of the mask why it is masked, or that it is not."""
    keep, real = steps.keep[item, 0], steps.real[item]

    def why(query: int, key: int) -> str:
        if bool(keep[query, key]):
            return _("{key} is a real token that {query} may attend to: the score stays.")
        if not bool(real[key]):
            return _("{key} is padding: hidden from every query.")
        return _("{key} comes after {query}: hidden by the causal mask.")

    count = len(names)
    return [
        [[why(query, key).format(query=names[query], key=names[key])] for key in range(count)] for query in range(count)
    ]


# -- a step with a cache ----------------------------------------------------------------------------------------------


def _show_cached(numbers: ExampleNumbers, n_cache: int, heads: int, finding: DeltaGenerator) -> BatchView:
    steps = cached_step(numbers, n_cache, n_heads=heads)
    n = len(numbers.x)
    if n_cache:
        said = _("The mask of this step is {new} × {total}, not {total} × {total}").format(new=n - n_cache, total=n)
    else:
        said = _("With an empty cache the mask is the whole square, {total} × {total}").format(total=n)
    words = _("new rows of queries: {new}; tokens whose keys and values come from the cache: {cache}").format(
        new=n - n_cache, cache=n_cache
    )
    with finding:
        show_finding(escape(said), escape(words), of_several=True)
    names = [f"x{place}" for place in range(n)]
    tables = _tables(steps, 0, names[n_cache:], names)
    notes = {
        "x": _("Only the new tokens go through the layer."),
        "mask": _("(n_new, n_cache + n_new): the last rows of the causal square. A single new token sees all: then no "
                  "mask is needed."),
        "softmax": _("The same weights as the last rows of the whole computation."),
        "mix": _("Values of the cache are mixed with the new ones."),
    }  # fmt: skip  # a step a line
    why = [
        [
            [
                (
                    _("{key} is in the cache: {query} may attend to it.")
                    if key < n_cache
                    else _("{key} is read in this step, not after {query}: it stays.")
                    if bool(steps.keep[0, 0, query, key])
                    else _("{key} comes after {query}: hidden by the causal mask.")
                ).format(query=names[n_cache + query], key=names[key])
            ]
            for key in range(n)
        ]
        for query in range(n - n_cache)
    ]
    payload = _show_chain(steps, 0, tables, notes, why)
    lines = cached_lines(numbers, n_cache, n_heads=heads)
    show_code(lines, state().step or FIRST, small_words())
    what = f"small made-up numbers, not the model's: {n - n_cache} tokens read with {n_cache} in the cache"
    return BatchView("cached", tables, lines, what, payload)


# -- both -------------------------------------------------------------------------------------------------------------


def _tables(steps: BatchedSteps, item: int, rows: list[str], keys: list[str]) -> dict[str, Table]:
    """The matrices of one text and the first head, in order of computation."""
    d_head = steps.q.shape[-1]
    across = [str(place) for place in range(d_head)]
    q, k = [f"q·{name}" for name in rows], [f"k·{name}" for name in keys]

    def of(name: str, values: np.ndarray, down: list[str], columns: list[str], *, share: bool = False) -> Table:
        return Table(name, down, columns, values, share=share)

    whole = [str(place) for place in range(steps.x.shape[-1])]
    return {
        "X": of("X", steps.x[item].numpy(), rows, whole),
        "Q": of("Q", steps.q[item, 0].numpy(), q, across),
        "K": of("K", steps.k[item, 0].numpy(), k, across),
        "C": of("Q Kᵀ", steps.scores[item, 0].numpy(), q, k),
        "S": of("S", steps.scaled[item, 0].numpy(), q, k),
        "M": of("S + mask", steps.masked[item, 0].numpy(), q, k),
        "A": of("A", steps.weights[item, 0].numpy(), q, k, share=True),
        "V": of("V", steps.v[item, 0].numpy(), [f"v·{name}" for name in keys], across),
        "O": of("O", steps.output[item, 0].numpy(), [f"o·{name}" for name in rows], across),
    }


def _share_words(scores: list[float], place: int) -> list[str]:
    """How softmax makes a weight from a row of masked scores; masked cells contribute nothing to the sum."""
    top = max(scores)
    if top == -math.inf:
        return ["0 ÷ 0 = NaN"]
    seen = [score for score in scores if score > HIDDEN or top == HIDDEN]
    powers = [math.exp(score - top) for score in scores]
    share = significant(powers[place] / sum(powers), 4)
    if scores[place] not in seen:
        return [f"e^({'−∞' if scores[place] == -math.inf else '−1e9'}) = {share}"]
    return [f"{_power(scores[place])} ÷ ({' + '.join(map(_power, seen))}) = {share}"]


def _power(score: float) -> str:
    written = significant(score, 3)
    return f"e^({written})" if score < 0 else f"e^{written}"


def _mix_words(weights: list[float], values: list[float]) -> str:
    """The weighted sum of all keys' values in one dimension."""
    terms = " + ".join(
        f"{significant(weight, 3)} · {significant(value, 3) if value >= 0 else f'({significant(value, 3)})'}"
        for weight, value in zip(weights, values, strict=True)
    )
    mixed = sum(weight * value for weight, value in zip(weights, values, strict=True))
    return f"{terms} = {significant(mixed, 4)}"


def _show_chain(
    steps: BatchedSteps, item: int, tables: dict[str, Table], notes: dict[str, str], why: list[list[list[str]]]
) -> bytes:
    """Show scores, mask, softmax and output of one text; a cell of the mask says why it is masked."""
    matrices = {name: drawn_matrix(table) for name, table in tables.items()}
    root = steps.q.shape[-1]
    weights = steps.weights[item, 0].numpy()
    shares = [[_share_words(row, place) for place in range(len(row))] for row in steps.masked[item, 0].tolist()]
    made = [
        DrawnStep("x", "model", "X", short="X", title="X", note=notes["x"]),
        DrawnStep("scores", "product", "C", left="Q", right="K", turned=True),
        DrawnStep("scale", "scale", "S", left="C", factor=root**-0.5, root=root),
        DrawnStep("mask", "told", "M", left="S", short=_("mask"), title=_("mask"), note=notes["mask"], lines=why,
                  lights=[Light("S", row="i", column="j")]),
        DrawnStep("softmax", "told", "A", left="M", short="softmax", title="softmax", note=notes["softmax"],
                  lines=shares, lights=[Light("M", row="i")]),
    ]  # fmt: skip  # a step a paragraph
    used = "A"
    if "D" in tables:
        used = "D"
        made.append(_dropout_step(tables))
    if np.isnan(weights).any():
        values = steps.v[item, 0].T.tolist()
        mixed = [[[_mix_words(row, column)] for column in values] for row in steps.dropped[item, 0].tolist()]
        made.append(DrawnStep("mix", "told", "O", parts=[used, "V"], short="A V", title="A V", note=notes["mix"],
                              lines=mixed, lights=[Light(used, row="i")]))  # fmt: skip
    else:
        made.append(DrawnStep("mix", "product", "O", left=used, right="V", note=notes["mix"]))
    return show_chain("steps_batch", DrawnChain(matrices, made), first=FIRST)


def _dropout_step(tables: dict[str, Table]) -> DrawnStep:
    """Which weights dropout has removed, and how the others are rescaled."""
    note = _("Each weight is set to 0 at random, with a probability of {share}, and the others are "
             "divided by {left}: on average a row keeps its sum. Only while a model is trained.")  # fmt: skip

    def said(weight: float, left: float) -> str:
        return (
            f"{significant(weight, 4)} ÷ {1 - DROPPED:g} = {significant(left, 4)}"
            if left or not weight
            else f"{significant(weight, 4)} → 0"
        )

    pairs = zip(tables["A"].values.tolist(), tables["D"].values.tolist(), strict=True)
    return DrawnStep(
        "dropout",
        "told",
        "D",
        left="A",
        short="dropout",
        title="dropout",
        note=note.format(share=f"{DROPPED:g}", left=f"{1 - DROPPED:g}"),
        lines=[[[said(*pair)] for pair in zip(weights, dropped, strict=True)] for weights, dropped in pairs],
        lights=[Light("A", row="i", column="j")],
    )


def batch_view(found: BatchView) -> ExportBundle:
    """Every matrix of the open text; the code computes those of both."""
    frames = {
        table.name: pd.DataFrame(table.values, [*table.rows], [*table.columns]) for table in found.tables.values()
    }
    weights = frames.pop("A")
    return ExportBundle(
        name=f"attention-{found.which}",
        title=_("Attention in a batch") if found.which == "padding" else _("Attention with a cache"),
        of_text=False,
        what=found.what,
        tables=lambda: {"A": weights, **frames},
        page=component_page(step_by_step.SOURCE, found.payload),
        picture=lambda title, words: matrices_svg([*found.tables.values()], title=title, caption=words),
        arrays={name: np.asarray(table.values) for name, table in found.tables.items()},
        code=code_text(found.lines, ""),
        starts_with_capture=False,
    )
