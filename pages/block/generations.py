"""The block of 2017 beside a current one, at the open model's sizes: what differs, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.block_then_and_now import Original, modern_of, modern_parts, original_of
from analysis.decoder_sizes import BY_NAME, DecoderSizes, shape_of
from model_runner.block_questions import WhatItIsMadeOf
from model_runner.memory import readable
from pages.block.sizes import FIRST
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding
from ui.shell.components import show_heading, show_html
from ui.shell.page import PageContext, asked
from ui.shell.progressive import show_chart
from ui.wording.i18n import _
from ui.wording.sentences import number
from ui.wording.short_counts import counted
from viz.chart import Bars, on_one_scale
from viz.chart_svg import charts_svg
from viz.curves import standalone
from viz.flow import flow

N_ = str  # marks a text for Babel without translating it here

BAR = 24  # px
NAMES = {
    "embedding": N_("embedding, output layer"), "attention": N_("self-attention"), "cross": N_("cross-attention"),
    "ffn": "FFN", "norms": N_("norms"),
}  # fmt: skip  # its parts in two lines


@dataclass(frozen=True, eq=False)
class Generations:
    """Both blocks at the sizes of ``name``, and their charts."""

    name: str
    old: Original
    new: DecoderSizes
    charts: list[Bars]


def show_generations(opened: PageContext) -> Generations:
    """Show both data flows, a table of differences, and the parameters. Raises RunnerError."""
    own = shape_of(
        asked(opened, WhatItIsMadeOf()), _("this model"), d_head=int(opened.capture.q(opened.layer).shape[-1]),
        vocabulary=opened.runner.info.n_vocab, context=opened.runner.info.max_tokens,
    )  # fmt: skip  # its sizes in two lines
    shape = BY_NAME[FIRST] if own is None else own
    old, new = original_of(shape), modern_of(shape)
    found = Generations(shape.name, old, new, _charts(old, new))
    before, after = sum(old.parameters().values()), sum(modern_parts(new).values())
    said = _("2017: {old} parameters; today: {new}").format(old=counted(before), new=counted(after))
    beside = _("at the sizes of {name}: {layers} layers in each stack, d = {d}, {heads} heads").format(
        name=shape.name, layers=shape.layers, d=f"{shape.d_model:,}", heads=shape.heads
    )
    show_finding(escape(said), escape(beside), of_several=True)
    for column, (name, lanes), key in zip(st.columns(2, gap="large"), _ways(found), ("old", "new"), strict=True):
        with column:
            show_heading(escape(name))
            first = _("text") if len(lanes) == 1 else _("the text that is read, and what is written")
            last = _("output layer") if len(lanes) == 1 else _("output layer, of the decoder")
            show_html(flow(first, lanes, last, "softmax"), key=f"generation_{key}")
    show_html(f"<div class='atlas-wide'>{_table(found)}</div>", key="generations")
    for column, chart, key in zip(st.columns(2, gap="large"), found.charts, ("old", "new"), strict=True):
        with column:
            show_heading(escape(chart.heading))
            show_chart(chart, key=f"generation_{key}_parts", alt=chart.heading, still=True)
    return found


def _ways(found: Generations) -> list[tuple[str, list[list[str]]]]:
    """Both data flows as lanes, from the tokens on."""
    add, repeated = _("add, then LayerNorm"), _("× {count} layers").format(count=found.old.layers)
    start = _("embedding + sinusoid")
    encoder = [start, _("self-attention"), add, _("FFN: ReLU"), add, repeated]
    decoder = [
        start,
        _("self-attention, masked"),
        add,
        _("cross-attention to the encoder"),
        add,
        _("FFN: ReLU"),
        add,
        repeated,
    ]
    attention = _("self-attention, masked: RoPE on q and k, {sharing} {heads} → {kv_heads}").format(
        sharing=found.new.sharing, heads=found.new.heads, kv_heads=found.new.kv_heads
    )
    today = [
        _("embedding"), "RMSNorm", attention, _("add to the stream"), "RMSNorm", _("FFN: SwiGLU"),
        _("add to the stream"), repeated, "RMSNorm",
    ]  # fmt: skip  # a way in two lines
    return [(_("2017: encoder and decoder"), [encoder, decoder]), (_("Today: decoder only"), [today])]


def _rows(found: Generations) -> list[tuple[str, str, str, str]]:
    """The differences: name, then, now, and why."""
    old, new = found.old, found.new
    here, there = modern_parts(new), old.parameters()
    decoder = old.block(decoder=True)
    share = [number(one["ffn"] / sum(one.values()), "share") for one in (there, here)]
    return [
        (_("stacks"), _("encoder and decoder"), _("decoder"), _("one text to continue: no second stack is needed")),
        (_("norm"), _("LayerNorm after adding (post-norm)"), _("RMSNorm before each part (pre-norm)"),
         _("gradients pass the stream unhindered; no mean, no bias")),
        (_("positions"), _("sinusoid added once, at the bottom"), _("RoPE: q and k turned in every layer"),
         _("scores depend only on the distance")),
        (_("activation"), _("ReLU: two matrices, FFN {width}").format(width=f"{old.d_ffn:,}"),
         _("SwiGLU: three matrices, FFN {width}").format(width=f"{new.d_ffn:,}"), _("better at equal size")),
        (_("key/value heads"), f"{old.heads} (MHA)", f"{new.kv_heads} ({new.sharing})", _("a smaller cache")),
        (_("biases"), _("in every matrix"), _("none"), _("no loss without them")),
        (_("parameters of a block"),
         _("{encoder} and {decoder}").format(
             encoder=counted(sum(old.block(decoder=False).values())), decoder=counted(sum(decoder.values()))),
         counted((here["attention"] + here["ffn"] + here["norms"]) // new.layers), ""),
        (_("share of the FFN"), share[0], share[1], ""),
        (_("KV cache per token"), readable(old.cache_bytes()), readable(new.cache_bytes(1)), _("in bfloat16")),
    ]  # fmt: skip  # a row a paragraph


def _table(found: Generations) -> str:
    heads = ["2017", _("today"), _("why")]
    head = "<td></td>" + "".join(f"<th scope='col'>{escape(one)}</th>" for one in heads)
    body = "".join(
        f"<tr><th scope='row'>{escape(name)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in _rows(found)
    )
    return f"<table class='atlas-known'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _charts(old: Original, new: DecoderSizes) -> list[Bars]:
    pairs = ((_("2017: parameters by part"), old.parameters()), (_("Today: parameters by part"), modern_parts(new)))
    return on_one_scale([_bars(heading, counts) for heading, counts in pairs])


def _bars(heading: str, counts: dict[str, int]) -> Bars:
    total = sum(counts.values())
    return Bars(
        labels=[_(NAMES[part]) for part in counts],
        values=[float(count) for count in counts.values()],
        words=[f"{counted(count)} · {number(count / total, 'share')}" for count in counts.values()],
        height=26 + BAR * len(counts),
        heading=heading,
    )


def generations_view(found: Generations) -> ExportBundle:
    """Parameters of every part, then and now."""
    columns = {"2017": found.old.parameters(), _("today"): modern_parts(found.new)}
    numbers = {name: [float(one) for one in counts.values()] for name, counts in columns.items()}
    heading = _("Parameters by part")
    return ExportBundle(
        name="block-then-and-now",
        title=_("The block of 2017 and of today"),
        of_text=False,
        what=f"parameters by formula at the sizes of {found.name}: an encoder-decoder of 2017 and a decoder of today",
        tables=lambda: {heading: pd.DataFrame(numbers, index=[_(name) for name in NAMES.values()])},
        page=lambda title, words, lang: standalone(found.charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(found.charts, title=title, caption=words),
        arrays={"parameters": np.array([*numbers.values()])},
        code="from attention_atlas.analysis.block_then_and_now import Original, modern_parts\n"
        "from attention_atlas.analysis.decoder_sizes import DecoderSizes\n\n"
        f"then = {found.old!r}.parameters()\nnow = modern_parts({found.new!r})",
        starts_with_capture=False,
    )
