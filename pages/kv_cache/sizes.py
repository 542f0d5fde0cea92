"""The size in bytes on the page KV cache: this model's, measured and by formula, and well-known models'."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from analysis.kv_bytes import CacheBytes, Sharing, cache_bytes, sharings
from analysis.kv_published import PUBLISHED, Published
from model_runner.kv import CachedLayer
from model_runner.memory import readable
from model_runner.questions import CacheLayers
from pages.kv_cache.state import LENGTHS, KvCacheState, state
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding
from ui.shell.components import show_heading
from ui.shell.page import PageContext, asked
from ui.shell.progressive import show_chart
from ui.state.controls import steps
from ui.wording.i18n import _
from viz.chart import Bars
from viz.chart_svg import charts_svg
from viz.curves import standalone
from viz.markdown import plain

GREY = 3  # index among the theme's series colours


@dataclass(frozen=True)
class Sizes:
    """What the view shows; ``heard``: the cache is of an audio input."""

    layers: tuple[CachedLayer, ...]
    found: CacheBytes
    sharing: tuple[Sharing, ...]
    heard: bool


def sizes(opened: PageContext) -> Sizes:
    """The sizes for the session's text, measured once. Raises RunnerError."""
    layers = asked(opened, CacheLayers(opened.capture.request))
    found = cache_bytes(opened.capture, layers)
    heard = opened.capture.source is not None and opened.capture.request.sound is not None
    return Sizes(layers, found, sharings(opened.capture, found), heard)


def show_sizes(opened: PageContext, held: Sizes) -> ExportBundle:
    """Show this model's on the left, other models' on the right."""
    left, right = st.columns([0.42, 0.58], gap="large")
    with left:
        _show_own(opened, held)
    with right:
        _show_published()
    n_heads, tokens = opened.runner.info.n_heads, int(state().published)
    charts = (sharing_chart(held, n_heads), published_chart(tokens))
    return ExportBundle(
        name="kv-bytes",
        title=_("Its bytes"),
        what=f"bytes of keys and values; of known models at {tokens} tokens",
        tables=lambda: sizes_tables(held, n_heads, tokens),
        page=lambda title, words, lang: standalone(charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(charts, title=title, caption=words),
        code="\nfrom attention_atlas.model_runner.questions import CacheLayers\n\n"
        "layers = runner.submit(CacheLayers(capture.request)).result()\n"
        "measured = sum(layer.n_bytes for layer in layers)",
    )


def _show_own(opened: PageContext, held: Sizes) -> None:
    found, info = held.found, opened.runner.info
    count = len(opened.capture.keys)
    grows = opened.capture.source is None and not any(layer.window is not None for layer in held.layers)
    heading = _("The cache of this sound: {size}") if held.heard else _("The cache of this text: {size}")
    heading = heading.format(size=readable(found.measured))
    show_finding(
        heading, _("{size} more for each token").format(size=readable(found.measured / count)) if grows else ""
    )
    st.code(formula(found), language=None, wrap_lines=True)
    same = _("measured on the tensors of the cache: {measured} bytes, equal to the formula")
    other = _("measured on the tensors of the cache: {measured} bytes, but the formula gives {formula}")
    words = (same if found.measured == found.formula else other).format(
        measured=f"{found.measured:,}", formula=f"{found.formula:,}"
    )
    if found.states:
        more = _("Layers without softmax attention hold {states} bytes more, however long the text.")
        words += " · " + more.format(states=f"{found.states:,}")
    st.caption(plain(words))
    chart = sharing_chart(held, info.n_heads)
    show_heading(chart.heading)
    show_chart(chart, key="kv_sharing", alt=chart.heading, still=True)
    per_token = readable(found.measured / count)
    note = _("Each further token takes {size} in this model ({dtype}).").format(size=per_token, dtype=info.dtype)
    if any(layer.window is not None for layer in held.layers):
        note = _("Layers with a window stop growing once it is full.")
    if opened.capture.source is not None:
        note = _("It is fixed: {size} for each token that is read, and nothing for a token that is written.")
        note = note.format(size=per_token)
    st.caption(plain(note))


def formula(found: CacheBytes) -> str:
    """The formula with its numbers."""
    if found.latent is not None:
        words = _("Σ over layers of {numbers} numbers (one latent for all heads) · tokens · bytes\n= {total} bytes")
        return words.format(numbers=found.latent, total=f"{found.formula:,}")
    if found.shape is None:
        return _("Σ over layers of kv heads · (d_head + d_value) · tokens kept · bytes\n= {total} bytes").format(
            total=f"{found.formula:,}"
        )
    layers, kv_heads, d_head, tokens, size = found.shape
    words = _("2 × {layers} layers × {kv_heads} kv heads × {d_head} numbers × {tokens} tokens × {size} bytes")
    made = words.format(layers=layers, kv_heads=kv_heads, d_head=d_head, tokens=tokens, size=size)
    return _("{product}\n= {total} bytes").format(product=made, total=f"{found.formula:,}")


def sharing_chart(held: Sizes, n_heads: int) -> Bars:
    """One bar per number of key/value heads."""
    labels = [f"{one.kind(n_heads)} · {one.kv_heads}" if one.kv_heads else one.kind(n_heads) for one in held.sharing]
    own = _("this model")
    words = [f"{readable(one.n_bytes)} · {own}" if one.own else readable(one.n_bytes) for one in held.sharing]
    values = [one.n_bytes for one in held.sharing]
    colors = [0 if one.own else GREY for one in held.sharing]
    name = _("If its {heads} query heads shared otherwise").format(heads=n_heads)
    height = 30 + 34 * len(labels)
    return Bars(labels=labels, values=values, words=words, colors=colors, height=height, heading=name)


def _show_published() -> None:
    tokens = int(state().published)
    chart = published_chart(tokens)
    show_heading(chart.heading, chart.note)
    steps(KvCacheState, "published", str(tokens), {str(length): f"{length:,}" for length in LENGTHS})
    show_chart(chart, key="kv_published", alt=f"{chart.heading}, {chart.note}", still=True)
    st.caption(
        plain(
            _(
                "MHA: a key and a value for every query head; GQA: for every group of heads; MQA: one for all; MLA: "
                "one compressed vector for all (512 + 64 numbers). Layers with a window hold no more than it."
            )
        )
    )


def published_chart(tokens: int) -> Bars:
    """One bar per model; a label instead if its context is shorter."""
    labels = [f"{one.hub_id.split('/')[1]} · {one.sharing}" for one in PUBLISHED]
    fits = [tokens <= one.context for one in PUBLISHED]
    values = [one.n_bytes(tokens) if fit else None for one, fit in zip(PUBLISHED, fits, strict=True)]
    words = [
        readable(one.n_bytes(tokens))
        if fit
        else _("its context ends at {context} tokens").format(context=f"{one.context:,}")
        for one, fit in zip(PUBLISHED, fits, strict=True)
    ]
    return Bars(
        labels=labels,
        values=values,
        words=words,
        height=400,
        heading=_("Well-known models at {tokens} tokens").format(tokens=f"{tokens:,}"),
        note=_("published configurations, 2 bytes a number"),
    )


def sizes_tables(held: Sizes, n_heads: int, tokens: int) -> dict[str, pd.DataFrame]:
    """This model's sizes by number of key/value heads, and the well-known models' with their factors."""
    this = _("this model")
    own = pd.DataFrame(
        {_("kv heads"): [one.kv_heads for one in held.sharing], _("bytes"): [one.n_bytes for one in held.sharing]},
        index=[one.kind(n_heads) + (f" ({this})" if one.own else "") for one in held.sharing],
        dtype=float,
    )
    columns = {
        _("layers"): [one.layers for one in PUBLISHED],
        _("query heads"): [one.heads for one in PUBLISHED],
        _("kv heads"): [np.nan if one.latent is not None else one.kv_heads for one in PUBLISHED],
        _("numbers per token and layer"): [one.numbers for one in PUBLISHED],
        _("window"): [np.nan if one.window is None else one.window for one in PUBLISHED],
        _("layers with a window"): [one.windowed for one in PUBLISHED],
        _("context"): [one.context for one in PUBLISHED],
        _("bytes at {tokens} tokens").format(tokens=f"{tokens:,}"): [_fitting(one, tokens) for one in PUBLISHED],
    }
    others = pd.DataFrame(columns, index=[f"{one.hub_id} {one.sharing}" for one in PUBLISHED], dtype=float)
    name = _("The cache of this sound") if held.heard else _("The cache of this text")
    return {name: own, _("Well-known models"): others}


def _fitting(one: Published, tokens: int) -> float:
    return float(one.n_bytes(tokens)) if tokens <= one.context else np.nan
