"""The first view of the page Masks: every pattern as a picture, one of them large, and its cost."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from analysis.mask_cost import MaskCost, head_work, mask_cost
from analysis.mask_effect import looks_ahead
from analysis.mask_picture import LARGEST, SMALL, MaskPicture, mask_picture, thumbnails
from analysis.pooling import even_bins
from analysis.sentences import joined
from attention.dual_chunk import FUTURE, IndexMap, index_map
from attention.patterns import BY_NAME, PATTERNS, Pattern, full_cells
from model_runner.memory import readable
from pages.masks.state import (
    BY_CHOICE,
    CHOICES,
    DUAL,
    MOST_HIDDEN,
    MaskChoice,
    MasksState,
    Painted,
    choose_pattern,
    hide,
    painted,
    show_sliders,
    state,
    values_of,
)
from ui.shared.finding import show_finding
from ui.shell.components import Handlers, mount, show_html, to_class
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.state.page_state import change
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.chart import Line, Lines
from viz.components.chart import chart as still_chart
from viz.components.mask_gallery import mask_gallery
from viz.curves import CONFIG, page_figure

LENGTHS = (1_024, 8_192, 131_072)
CURVE = tuple(2**power for power in range(6, 18))
SUFFIXES = ("", " k", " M", " G", " T", " P", " E")


@dataclass(frozen=True, eq=False)
class Gallery:
    """What is in view: the pattern with its parameters, its picture as drawn, and its cost if it saves any."""

    choice: MaskChoice
    values: dict[str, int]
    painted: Painted
    picture: MaskPicture | None
    index: IndexMap | None
    payload: bytes
    costs: tuple[tuple[MaskCost, MaskCost], ...]  # this pattern and full attention, for each of LENGTHS
    causal: bool  # False for an encoder, whose pictures are two-sided


def show_gallery(opened: PageContext) -> Gallery:
    """Show the pictures on the left and the open one's description on the right."""
    choice, n_tokens = state().choice, len(opened.capture.tokens)
    values = values_of(choice, n_tokens)
    found = painted(opened.capture, choice, values)
    n_drawn = min(n_tokens, LARGEST)
    causal = not looks_ahead(opened.capture)
    n_layers = max(1, sum(record is not None for record in opened.capture.records))
    index = picture = None
    if choice.name == DUAL:
        index = index_map(n_drawn, chunk=values["chunk"], local=values["local"])
    else:
        pattern = BY_NAME[choice.name]
        picture = mask_picture(pattern, values, n_tokens, n_layers=n_layers, hidden=found.hidden, causal=causal)
    payload = _payload(opened, choice, found, picture, index, n_layers, causal)
    if picture is not None:
        show_finding(*_finding(choice, picture, causal))
    left, right = st.columns([0.74, 0.26], gap="medium")
    with left:
        mount(mask_gallery.SOURCE, payload, key="mask_gallery", on=_events())
    with right:
        _show_words(choice, causal)
        with st.container(key="mask_sliders", gap=None):
            show_sliders(choice, values, n_tokens, beside=False, causal=causal)
        costs = _show_cost(opened, choice, values, picture, causal)
    return Gallery(choice, values, found, picture, index, payload, costs, causal)


def _events() -> Handlers:
    def look(query: int) -> None:
        session.move(query=int(query), key=None)

    return {
        "pattern": choose_pattern,
        "layers": lambda layers: change(MasksState, reach=int(layers)),
        "hidden": hide,
        "query": look,
    }


def _payload(
    opened: PageContext,
    choice: MaskChoice,
    found: Painted,
    picture: MaskPicture | None,
    index: IndexMap | None,
    n_layers: int,
    causal: bool,
) -> bytes:
    tokens = opened.capture.tokens[:LARGEST]
    note = ""
    if len(tokens) < len(opened.capture.tokens):
        note = _("Showing the first {count} of {total} tokens.").format(
            count=len(tokens), total=len(opened.capture.tokens)
        )
    regions = None
    reached = np.zeros((len(tokens), len(tokens)), np.uint8) if picture is None else picture.layers
    if index is not None:
        regions = mask_gallery.Regions(index.distance.numpy().astype(np.int32), index.region.numpy().astype(np.uint8))
    return mask_gallery.MaskGalleryPicture(
        names=[one.name for one in CHOICES],
        labels=[_(one.label) for one in CHOICES],
        small=_small(len(opened.capture.tokens), causal),
        selected=choice.name,
        tokens=[token.text for token in tokens],
        reached=reached,
        n_layers=n_layers,
        shown=min(n_layers, state().reach),
        query=opened.query if opened.query is not None and opened.query < len(tokens) else None,
        hidden=[cell for cell in found.cells if max(cell) < len(tokens)],
        given=found.given,
        most_hidden=MOST_HIDDEN,
        note=note,
        texts=translated(mask_gallery.TEXTS),
        regions=regions,
        causal=causal or regions is not None,
    ).packed()


def _small(n_tokens: int, causal: bool) -> np.ndarray:
    """The small pictures with their current parameters; the index map's shows its three regions."""
    values = {name: value for choice in CHOICES for name, value in values_of(choice, n_tokens).items()}
    dual = {parameter.name: values[parameter.name] for parameter in BY_CHOICE[DUAL].parameters}
    n_drawn = min(n_tokens, LARGEST)
    region = index_map(n_drawn, **dual).region.numpy()
    places = [part.start for part in even_bins(n_drawn, SMALL)]
    sampled = region[np.ix_(places, places)]
    drawn = np.where(sampled == FUTURE, 255, sampled + 251).astype(np.uint8)
    masks_only = tuple((name, value) for name, value in values.items() if name not in dual)
    return np.concatenate([thumbnails(masks_only, n_tokens, causal=causal), drawn[None]])


# -- description ------------------------------------------------------------------------------------------------------


def _finding(choice: MaskChoice, picture: MaskPicture, causal: bool) -> tuple[str, str]:
    """The share and number of cells that the pattern keeps; HTML."""
    kept, possible = picture.n_kept, full_cells(len(picture.layers), causal=causal)
    said = _("{pattern} keeps {share} of the cells")
    said = said.format(pattern=_(choice.label), share=number(kept / possible, "share"))
    words = _("{kept} of the {possible} of causal attention")
    if not causal:
        words = _("{kept} of the {possible} of attention to both sides")
    return escape(said[:1].upper() + said[1:]), escape(words.format(kept=f"{kept:,}", possible=f"{possible:,}"))


def _show_words(choice: MaskChoice, causal: bool) -> None:
    counts = _(choice.counts if causal else choice.around or choice.counts)
    st.html(
        f"<div class='atlas-head'><b>{escape(_(choice.label))}</b></div>"
        f"<p class='atlas-caption'>{escape(counts)} ({escape(choice.source)})</p>"
    )


def _show_cost(
    opened: PageContext, choice: MaskChoice, values: dict[str, int], picture: MaskPicture | None, causal: bool
) -> tuple[tuple[MaskCost, MaskCost], ...]:
    """Show how many cells it keeps in this text, and what that saves in long ones."""
    if picture is None:
        words = _("Every cell is kept, so no work is saved, and it cannot be laid over the model as a mask.")
        if not causal:
            words = joined(
                words, _("It is designed for causal models, and shown as causal although this model is bidirectional.")
            )
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
        return ()
    work = head_work(opened.capture)
    pattern, full = BY_NAME[choice.name], PATTERNS[0]

    def cost(of: Pattern, n: int) -> MaskCost:
        return mask_cost(of, values if of is pattern else {}, n, work, causal=causal)

    costs = tuple((cost(pattern, n), cost(full, n)) for n in LENGTHS)
    show_html(_cost_table(costs), key="mask_costs")
    curves = [
        Line(_("full"), CURVE, [cost(full, n).multiply_adds for n in CURVE], dash="dot"),
        Line(_(choice.label), CURVE, [cost(pattern, n).multiply_adds for n in CURVE]),
    ]
    chart = Lines(
        series=curves if choice.name != full.name else curves[:1],
        x_title=_("tokens"),
        y_title=_("multiply-adds of attention"),
        log_x=True,
        log_y=True,
        height=225 if len(choice.parameters) < 3 else 180,  # many sliders leave less room above the fold
    )
    drawn: Any = page_figure(chart)
    drawn.update_yaxes(dtick=3)
    to_class(
        still_chart.SOURCE,
        still_chart.ChartPicture(chart, label=chart.y_title).packed(),
        key="mask_cost",
        title=chart.y_title,
    )
    st.plotly_chart(drawn, key="mask_cost", config=CONFIG)
    return costs


def _cost_table(costs: tuple[tuple[MaskCost, MaskCost], ...]) -> str:
    """Long texts through this model by formula: the share of full attention, its work, and the bytes of its scores."""
    head = "".join(
        f"<th scope='col'>{escape(words)}</th>"
        for words in (_("tokens"), _("of full"), _("multiply-adds"), _("bytes of scores"))
    )
    rows = "".join(
        f"<tr><th scope='row'>{one.n_tokens:,}</th><td>{_share(one.cells / full.cells)}</td>"
        f"<td title='{short(full.multiply_adds)}'>{short(one.multiply_adds)}</td>"
        f"<td title='{readable(full.n_bytes)}'>{readable(one.n_bytes)}</td></tr>"
        for one, full in costs
    )
    return f"<table class='atlas-costs'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _share(share: float) -> str:
    return number(share, "share") if share >= 0.0995 else _("{number} %").format(number=f"{100 * share:.2g}")


def short(value: float) -> str:
    """Three digits and a unit prefix: 1.32 T."""
    power = 0
    while value >= 999.5 and power < len(SUFFIXES) - 1:
        value, power = value / 1000, power + 1
    return f"{value:.3g}{SUFFIXES[power] or ' '}"
