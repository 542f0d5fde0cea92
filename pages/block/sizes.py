"""Sizes: well-known models beside a configuration of the reader's own; parameters, cache and operations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.decoder_sizes import BY_NAME, KNOWN_SHAPES, DecoderSizes, shape_of
from analysis.sentences import joined
from model_runner.block_questions import WhatItIsMadeOf
from model_runner.memory import readable
from pages.block.state import SIZES, BlockState, state
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding
from ui.shell.components import show_heading, show_html
from ui.shell.page import PageContext, asked
from ui.shell.progressive import show_chart
from ui.state.controls import number as number_box
from ui.state.inputs import pick_one
from ui.state.page_state import change, setting_of
from ui.wording.i18n import _
from ui.wording.sentences import listed, number
from ui.wording.short_counts import counted
from viz.chart import Bars
from viz.chart_svg import charts_svg
from viz.curves import standalone
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

FIRST = "Llama 3 8B"  # if the formula does not give the open model's sizes
BAR = 24  # px
PART_NAMES = {
    "embedding": N_("embedding"), "positions": N_("position vectors"), "q": "W_Q", "kv": "W_K, W_V", "o": "W_O",
    "ffn": "FFN", "norms": N_("norms"), "output": N_("output layer"),
}  # fmt: skip  # its parts in two lines
WORK_NAMES = {
    "projections": "W_Q, W_K, W_V, W_O", "scores": N_("q · k and the mix of values"), "ffn": "FFN",
    "output": N_("output layer"),
}  # fmt: skip  # its parts in two lines


@dataclass(frozen=True, eq=False)
class SizesView:
    """The configuration shown, its number of tokens, and its charts."""

    shape: DecoderSizes
    tokens: int
    charts: tuple[Bars, Bars]


def show_sizes(opened: PageContext) -> SizesView | None:
    """Show the input boxes, the charts and the table of known models; None if the sizes are inconsistent."""
    finding = st.container()  # above the boxes that change it
    base = _base(opened)
    shape = _typed(base)
    problem = _problem(shape)
    view = None
    if problem:
        st.info(plain(problem))
    else:
        view = SizesView(shape, state().seen, _charts(shape, state().seen))
        with finding:
            _show_finding(view)
        _show_charts(view, base)
    rows = [shape, *(one for one in KNOWN_SHAPES if one != shape)] if not problem else [*KNOWN_SHAPES]
    show_html(f"<div class='atlas-wide'>{_table(rows, chosen=not problem)}</div>", key="known_sizes")
    return view


def _base(opened: PageContext) -> DecoderSizes:
    """The initial values: the open model's or a known one's, and the list to choose another."""
    own = shape_of(
        asked(opened, WhatItIsMadeOf()), _("this model"), d_head=int(opened.capture.q(opened.layer).shape[-1]),
        vocabulary=opened.runner.info.n_vocab, context=opened.runner.info.max_tokens,
    )  # fmt: skip  # its sizes in two lines
    names = ({} if own is None else {"own": _("this model")}) | {name: name for name in BY_NAME}
    held = state().like
    like = held if held in names else next(iter(names)) if own is not None else FIRST
    with st.container(key="size_boxes", horizontal=True, vertical_alignment="bottom", gap="small"):
        none = dict.fromkeys(SIZES)
        pick_one(
            _(setting_of(BlockState, "like").label), "block.like", names, like,
            lambda name: change(BlockState, like=name, **none), width=190, hidden=False,
        )  # fmt: skip  # what is picked in two lines
        base = own if own is not None and like == "own" else BY_NAME[like]
        shape = _typed(base)
        for name in SIZES:
            spec = setting_of(BlockState, name)
            value = getattr(shape, name) or getattr(base, name)  # inconsistent sizes do not determine the others
            number_box(BlockState, name, value, (1, int(spec.max)), _(spec.label), width=130)
        spec = setting_of(BlockState, "seen")
        number_box(BlockState, "seen", state().seen, (1, int(spec.max)), _(spec.label), width=130)
    return base


def _typed(base: DecoderSizes) -> DecoderSizes:
    """The base with the typed values; a head's sizes follow from the others unless they were typed too."""
    held = {name: getattr(state(), name) for name in SIZES}
    given = {name: value for name, value in held.items() if value is not None}
    shape = replace(base, **given, **({"name": _("your configuration")} if given else {}))
    if "d_head" not in given and given.keys() & {"heads", "d_model"}:
        even = shape.d_model % shape.heads == 0
        shape = replace(shape, d_head=shape.d_model // shape.heads if even else 0)
    return shape


def _problem(shape: DecoderSizes) -> str:
    """Why the sizes are inconsistent; empty if they are not."""
    if not shape.d_head:
        words = _("{d} dimensions cannot be shared out evenly among {heads} heads: change one of the two, or d_head.")
        return words.format(d=f"{shape.d_model:,}", heads=shape.heads)
    if shape.kv_heads > shape.heads or shape.heads % shape.kv_heads:
        words = _("{heads} query heads cannot share {kv_heads} key/value heads evenly.")
        return words.format(heads=shape.heads, kv_heads=shape.kv_heads)
    return ""


def _charts(shape: DecoderSizes, tokens: int) -> tuple[Bars, Bars]:
    parts = {name: count for name, count in shape.parameters().items() if count}
    work = shape.work(tokens)
    return (
        _bars(parts, PART_NAMES, _("Parameters by part")),
        _bars(work, WORK_NAMES, _("FLOPs of one more token at {tokens} tokens").format(tokens=f"{tokens:,}")),
    )


def _bars(counts: dict[str, int], names: dict[str, str], heading: str) -> Bars:
    total = sum(counts.values())
    return Bars(
        labels=[_(names[name]) for name in counts],
        values=[float(count) for count in counts.values()],
        words=[f"{counted(count)} · {number(count / total, 'share')}" for count in counts.values()],
        height=26 + BAR * len(counts),
        heading=heading,
    )


def _show_finding(view: SizesView) -> None:
    shape, tokens = view.shape, view.tokens
    said = _("{name}: {count} parameters, {size} in bfloat16")
    if shape.name == _("this model"):
        said = _("This model: {count} parameters, {size} in bfloat16")
    said = said.format(name=shape.name, count=counted(shape.total), size=readable(2 * shape.total))
    beside = _("{sharing}; {cache} of KV cache at {tokens} tokens, {each} a token").format(
        sharing=shape.sharing, cache=readable(shape.cache_bytes(tokens)), tokens=f"{tokens:,}",
        each=readable(shape.cache_bytes(1)),
    )  # fmt: skip  # its values in two lines
    show_finding(escape(said), escape(beside), of_several=True)


def _show_charts(view: SizesView, base: DecoderSizes) -> None:
    for column, chart, key in zip(st.columns(2, gap="large"), view.charts, ("sizes_parts", "sizes_work"), strict=True):
        with column:
            show_heading(escape(chart.heading))
            show_chart(chart, key=key, alt=chart.heading, still=True)
    st.html(f"<p class='atlas-caption'>{escape(_built_as(view.shape, base))}</p>")


def _built_as(shape: DecoderSizes, base: DecoderSizes) -> str:
    """The parts' kinds, which cannot be typed."""
    matrices = _("a gated FFN of three matrices") if shape.gated else _("an FFN of two matrices")
    norm = "RMSNorm" if shape.norm_vectors == 1 else "LayerNorm"
    biases = {"none": _("no biases"), "qkv": _("biases of Q, K and V"), "all": _("biases everywhere")}[shape.biases]
    positions = _("learned positions") if shape.learned else _("positions without parameters")
    output = _("an output layer tied to the embedding") if shape.tied else _("an output layer of its own")
    words = _("Built as {name}: {parts}.").format(
        name=base.name, parts=listed([matrices, norm, biases, positions, output])
    )
    return joined(words, _("By formula; a multiply-add is two FLOPs, numbers of the cache have two bytes."))


def _columns() -> list[str]:
    return [
        _("layers"), _("heads"), _("kv heads"), "d", "d_head", "FFN", _("vocabulary"), _("context"), _("parameters"),
        _("cache bytes per token"),
    ]  # fmt: skip  # a row of the table in two lines


def _numbers(shape: DecoderSizes) -> list[int]:
    return [
        shape.layers, shape.heads, shape.kv_heads, shape.d_model, shape.d_head, shape.d_ffn, shape.vocabulary,
        shape.context, shape.total, shape.cache_bytes(1),
    ]  # fmt: skip  # a row of the table in two lines


def _table(rows: list[DecoderSizes], *, chosen: bool) -> str:
    head = "".join(f"<th scope='col'>{escape(one)}</th>" for one in [_("model"), *_columns()])
    body = ""
    for place, shape in enumerate(rows):
        name = f"{escape(shape.name)} ←" if chosen and not place else escape(shape.name)
        *sizes, total, each = _numbers(shape)
        cells = [*(f"{one:,}" for one in sizes), counted(total), f"{each:,}"]
        body += f"<tr><th scope='row'>{name}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    return f"<table class='atlas-known'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def sizes_view(view: SizesView) -> ExportBundle:
    """The parts, the operations and the known models."""
    shape, tokens = view.shape, view.tokens

    def tables() -> dict[str, pd.DataFrame]:
        parts, work = shape.parameters(), shape.work(tokens)
        rows = [shape, *(one for one in KNOWN_SHAPES if one != shape)]
        return {
            view.charts[0].heading: pd.DataFrame(
                {_("parameters"): [float(one) for one in parts.values()]}, [_(PART_NAMES[name]) for name in parts]
            ),
            view.charts[1].heading: pd.DataFrame(
                {"FLOPs": [float(one) for one in work.values()]}, [_(WORK_NAMES[name]) for name in work]
            ),
            _("Well-known models"): pd.DataFrame(
                np.array([_numbers(one) for one in rows], dtype=float), [one.name for one in rows], _columns()
            ),
        }

    return ExportBundle(
        name="sizes",
        title=shape.name,
        of_text=False,
        what=f"a decoder of typed sizes, by formula: parameters by part, cache, operations at {tokens} tokens",
        tables=tables,
        page=lambda title, words, lang: standalone(view.charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(view.charts, title=title, caption=words),
        code="from attention_atlas.analysis.decoder_sizes import DecoderSizes\n\n"
        f"shape = {shape!r}\n"
        f"parameters, cache, flops = shape.parameters(), shape.cache_bytes({tokens}), shape.work({tokens})",
        starts_with_capture=False,
    )
