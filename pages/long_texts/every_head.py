"""Two views of the page Long texts computed in one pass: thumbnails of every head, and curves by layer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from weakref import ref

import numpy as np
import streamlit as st

from analysis.head_names import group_size
from analysis.long_blocks import PLACES, RECENT, LongHeads, Measure, long_heads, measures_of
from analysis.mask_effect import looks_ahead
from jobs.long_blocks import LongBlocks
from pages.long_texts.state import LongTextsState, state
from ui.shared.finding import show_finding
from ui.shell.components import mount, show_heading
from ui.shell.page import PageContext, translated
from ui.shell.progressive import progressive, show_chart, show_progress
from ui.state import session
from ui.state.controls import pick
from ui.state.page_state import change
from ui.wording.i18n import _
from ui.wording.sentences import number, with_unit
from viz.chart import Line, Lines
from viz.components.head_grid import head_grid as grid_component

HEIGHT = 262  # px of each of four charts


@dataclass(frozen=True, eq=False)
class HeadsView:
    """The results so far, the measure drawn, and the grid's payload."""

    heads: LongHeads
    measure: Measure
    payload: bytes


def _work(opened: PageContext) -> LongBlocks:
    key = (ref(opened.runner), opened.capture.request)
    return session.jobs().get("long_blocks", key, lambda _name: LongBlocks(opened.capture))


def _progress(work: LongBlocks) -> None:
    show_progress(work, len(work.rows), _("{done} of {total} blocks of rows"), key="long_blocks")


def show_heads(opened: PageContext) -> HeadsView:
    """Show every head as a thumbnail, as far as computed; a click opens a head's map."""
    work, measures = _work(opened), measures_of(opened.capture)
    measure = next(one for one in measures if one.name == state().measure)
    with st.container(key="long_heads_controls", horizontal=True, vertical_alignment="center", gap="small"):
        pick(LongTextsState, "measure", measure.name, {one.name: _(one.label) for one in measures}, width=190)
        st.html(f"<p class='atlas-caption'>{_(measure.definition)}</p>", width="stretch")

    def draw() -> None:
        _progress(work)
        drawn = long_heads(opened.capture, work.items)
        _show_leader(drawn, measure)
        payload = _grid(opened, drawn, measure)
        mount(grid_component.SOURCE, payload, key="long_grid", on={"head": _open_head})

    progressive(work, draw)
    found = long_heads(opened.capture, work.items)
    return HeadsView(found, measure, _grid(opened, found, measure))


def _show_leader(found: LongHeads, measure: Measure) -> None:
    """Say which head has the largest value of the measure."""
    values = np.nan_to_num(found.measures[measure.name], nan=-1.0)
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    most, known = float(values[layer, head]), int((values >= 0).sum())
    if most < 0:
        return
    said = _("L{layer}H{head} has most of “{measure}”: {value}")
    said = said.format(layer=layer, head=head, measure=_(measure.label), value=number(most, measure.unit))
    show_finding(escape(said), escape(_("of {count} heads").format(count=known)))


def _show_sinks(found: LongHeads) -> None:
    """Say in which layer the first token has the largest mean weight."""
    shares = {layer: _mean(values) for layer, values in enumerate(found.measures["first"])}
    known = {layer: share for layer, share in shares.items() if np.isfinite(share)}
    if not known:
        return
    most, least = max(known, key=lambda layer: known[layer]), min(known, key=lambda layer: known[layer])
    said = _("The first token gets {share} of layer {layer}’s attention")
    beside = _("the most of any layer; least in layer {layer}, {share}")
    show_finding(
        escape(said.format(share=number(known[most], "share"), layer=most)),
        escape(beside.format(share=number(known[least], "share"), layer=least)),
        of_several=True,
    )


def _grid(opened: PageContext, found: LongHeads, measure: Measure) -> bytes:
    share = measure.unit == "share"
    summary = _("Every head of the long text: layers down, heads across; the first token is left out of the pictures.")
    return grid_component.HeadGridPicture(
        thumbnails=found.thumbnails,
        keep=found.keep,
        metric=found.measures[measure.name].astype(np.float32),
        mode="maps",
        order=None,
        layer_has_weights=[opened.capture.has_weights(layer) for layer in range(opened.capture.n_layers)],
        selected=(opened.layer, opened.head),
        compare=None,
        groups=group_size(opened.capture, opened.layer),
        texts=translated(grid_component.TEXTS)
        | {"metric": _(measure.label), "unit": with_unit(measure.unit), "summary": summary},
        metric_range=(0.0, 1.0) if share else None,
        number="percent" if share else "plain",
        max_height=560,
    ).packed()


def _open_head(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[0]), head=int(place[1]))
        change(LongTextsState, view="map")


def show_curves(opened: PageContext) -> LongHeads:
    """Show four charts (three for a short text), growing by block: two by layer, two of the open head and its layer."""
    work = _work(opened)

    def draw() -> None:
        _progress(work)
        drawn = long_heads(opened.capture, work.items)
        _show_sinks(drawn)
        charts = curves(opened, drawn)
        for row in (charts[:2], charts[2:]):
            for column, (name, chart) in zip(st.columns(2, gap="medium"), row, strict=False):
                with column:
                    show_heading(chart.heading)
                    show_chart(chart, key=f"long_{name}", alt=chart.heading, still=not work.running)
        if len(opened.capture.tokens) < PLACES:
            words = _("The V shape is drawn for texts of {least} tokens or more; this one has {count}.")
            words = words.format(least=PLACES, count=len(opened.capture.tokens))
            st.html(f"<p class='atlas-caption'>{words}</p>")

    progressive(work, draw)
    return long_heads(opened.capture, work.items)


def curves(opened: PageContext, found: LongHeads) -> list[tuple[str, Lines]]:
    """The charts by name; means are over a layer's heads."""
    layers = [layer for layer in range(opened.capture.n_layers) if np.isfinite(found.measures["entropy"][layer]).any()]
    mean = {name: [_mean(values[layer]) for layer in layers] for name, values in found.measures.items()}
    farthest = [_most(found.measures["distance"][layer]) for layer in layers]
    rest = [max(0.0, 1 - first - recent) for first, recent in zip(mean["first"], mean["recent"], strict=True)]
    by_layer = _("layer (mean over its heads)")
    near = _("tokens less than {n} away") if looks_ahead(opened.capture) else _("last {n} tokens")
    where = Lines(
        series=[
            Line(_("first token (sink)"), layers, mean["first"], points=True),
            Line(near.format(n=RECENT), layers, mean["recent"], dash="dash", points=True),
            Line(_("everything else"), layers, rest, dash="dot", points=True),
        ],
        x_title=by_layer, y_title=_("share of attention"), height=HEIGHT, heading=_("Where attention goes, by layer"),
    )  # fmt: skip  # settings of a chart in a few lines
    reach = Lines(
        series=[
            Line(_("mean over heads"), layers, mean["distance"], points=True),
            Line(_("head that looks farthest"), layers, farthest, dash="dash", points=True),
        ],
        x_title=_("layer"), y_title=_("tokens"), height=HEIGHT,
        heading=_("Effective distance, the first token left out"),
    )  # fmt: skip
    return [
        ("where", where),
        ("reach", reach),
        *([("v_shape", _v_shape(opened, found))] if len(opened.capture.tokens) >= PLACES else []),
        ("entropy", _entropy(opened, found)),
    ]


def _v_shape(opened: PageContext, found: LongHeads) -> Lines:
    """Weights by the key's relative position among visible keys: high at both ends for a sink plus recency."""
    name, places = f"L{opened.layer}H{opened.head}", found.places[opened.layer]
    middles = [(part + 0.5) / PLACES for part in range(PLACES)]
    to_query = _("place of the key: 0 is the first token, 1 the query itself")
    return Lines(
        series=[
            Line(name, middles, places[opened.head].tolist(), points=True),
            Line(_("mean of layer {layer}").format(layer=opened.layer), middles, _means(places), dash="dash"),
            Line(_("spread evenly"), [0, 1], [1 / PLACES] * 2, dash="dashdot", quiet=True),
        ],
        x_title=_("place of the key: 0 is the first token, 1 the last") if looks_ahead(opened.capture) else to_query,
        y_title=_("share of attention"), log_y=bool((places[opened.head] > 0).all()), height=HEIGHT,
        heading=_("The V shape: attention by relative position"),
    )  # fmt: skip


def _entropy(opened: PageContext, found: LongHeads) -> Lines:
    name, entropy = f"L{opened.layer}H{opened.head}", found.entropy_at[opened.layer]
    at = found.positions.tolist()
    ends = [*at[1:], len(opened.capture.tokens)]
    middles = [(start + stop - 1) / 2 for start, stop in zip(at, ends, strict=True)]
    seen = [(_seen(opened, math.floor(middle)) + _seen(opened, math.ceil(middle))) / 2 for middle in middles]
    return Lines(
        series=[
            Line(name, middles, entropy[opened.head].tolist(), points=True),
            Line(_("mean of layer {layer}").format(layer=opened.layer), middles, _means(entropy), dash="dash"),
            Line(_("spread evenly"), middles, np.log2(seen).tolist(), dash="dashdot", quiet=True),
        ],
        x_title=_("position of the query"), y_title=_("bits"), height=HEIGHT, heading=_("Entropy against position"),
    )  # fmt: skip


def _seen(opened: PageContext, query: int) -> int:
    """The number of keys visible to the open head there: all so far, the whole text, or those in its window."""
    record, every = opened.capture.record(opened.layer), slice(0, len(opened.capture.tokens))
    return int(record.mask.tile(slice(query, query + 1), every, record.q.device, head=opened.head).sum())


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")


def _most(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else float("nan")


def _means(values: np.ndarray) -> list[float]:
    """Means over heads, for each position separately."""
    return [_mean(column) for column in values.T]
