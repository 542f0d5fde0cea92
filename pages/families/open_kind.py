"""The open kind: a head's map of its own model on this text, beside the map of the reader's model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import streamlit as st

from analysis.color_scale import scale_of
from analysis.families import Kind
from analysis.head_map import HeadMap, Window
from analysis.joined import as_square, check_side
from analysis.opening import opening_query
from analysis.read_head import WEIGHTS, read_head
from analysis.stories import first_head
from jobs.families import MODEL_OF, ReadBy
from model_runner import Capture, RunnerError
from model_runner.capture import index
from model_runner.runner import ModelInfo
from pages.families.answers import choose_attention
from pages.families.readings import OfKind
from pages.families.sentences import choose_part, in_view, show_shares
from pages.families.state import FamiliesState, state
from ui.shared import cached
from ui.shared.finding import token_name
from ui.shared.head_views import DrawnHead, draw_head, show_map, sink_note, strongest, summary
from ui.shell.components import Handlers, mount, show_heading
from ui.shell.models_offered import EMBEDDED
from ui.shell.page import PageContext, translated
from ui.state import selection, session
from ui.state.page_state import change, refuse
from ui.wording.i18n import _
from ui.wording.sentences import number, sentence
from viz.components.head_map import head_map as map_component

HEIGHT = 324  # px: with the cards above, the map fits a screen of 900


@dataclass(frozen=True)
class Away:
    """What remains known of a model that may be evicted."""

    info: ModelInfo


def context_of(opened: PageContext, one: OfKind, read: ReadBy, causal: ReadBy | None) -> PageContext:
    """The kind's capture as drawn, with the head and positions in the page's state, or defaults."""
    capture, asked = read.capture, session.model_options().attention
    if capture.attentions:
        across = capture.attention(asked)
        capture = cached.made(("families", "drawn", repr(across.request)), lambda: as_square(across))
    if session.model() == MODEL_OF[one.kind] and opened.capture.request.attention == capture.request.attention:
        usual = opened.layer, opened.head
    else:  # the same head before and after the change of mask
        usual = first_head(causal.capture if one.kind == "prefix" and causal is not None else capture)
    layer, head = _head(capture, usual)
    query, key = _position(capture, "query"), _position(capture, "key")
    runner: Any = Away(read.info)
    return PageContext(runner, capture, layer, head, opening_query(capture) if query is None else query, key)


def _head(capture: Capture, usual: tuple[int, int]) -> tuple[int, int]:
    held = state().head
    if held is None:
        return usual
    try:
        layer, head = held if len(held) == 2 else usual
        return index("layer", layer, capture.n_layers), index("head", head, len(capture.q(layer)))
    except RunnerError as error:
        refuse(FamiliesState, "head", sentence(error))
        return usual


def _position(capture: Capture, name: str) -> int | None:
    held: int | None = getattr(state(), name)
    if held is None:
        return None
    try:
        found = index("position", held, len(capture.tokens))
        check_side(capture, name, found)
        return found
    except RunnerError as error:
        refuse(FamiliesState, name, sentence(error))
        return None


def show_open(here: PageContext, one: OfKind, *, two_to_choose: bool) -> DrawnHead:
    """Show the map and its name and, for an encoder-decoder, the selection of the attention; a click pins a cell."""
    model = _(EMBEDDED[MODEL_OF[one.kind]][0])
    with st.container(key="family_heading", horizontal=True, vertical_alignment="center", gap="small"):
        if two_to_choose:
            choose_attention()
        if one.kind == "encoder":
            choose_part(here)
    drawn = _drawn(here, one.kind)
    show_heading(*_heading(here, model))
    mount(map_component.SOURCE, drawn.payload, key="family_map", on=_events(drawn.read.view))
    if one.kind == "encoder":
        show_shares(here)
    return drawn


def show_own(opened: PageContext) -> None:
    """Show the open head of the reader's own model, if it is of the same kind."""
    name = escape(_("the open model: {name}").format(name=opened.runner.info.name))
    show_heading(f"L{opened.layer}H{opened.head}", name)
    show_map(draw_head(opened, session.selection().window, max_height=HEIGHT), "family_own_map")
    st.html(f"<p class='atlas-caption'>{escape(summary(opened))}</p>")


def _heading(here: PageContext, model: str) -> tuple[str, str]:
    """What the pinned token attends to, with which head of which model; HTML."""
    name = f"L{here.layer}H{here.head} · {escape(model)}"
    found = strongest(here, WEIGHTS)
    if found is None:
        return name, ""
    query, key, weight = found
    tokens = {"query": token_name(here.capture, query), "key": token_name(here.capture, key)}
    return _("{query} puts {value} on {key}").format(value=escape(number(weight, "share")), **tokens), name


def _says(here: PageContext, kind: Kind) -> str:
    """What the map shows, preceded by its model, since the head at this place in the open model is another."""
    return f"{_(EMBEDDED[MODEL_OF[kind]][0])} · {summary(here)}"


def _drawn(here: PageContext, kind: Kind) -> DrawnHead:
    held = state().window
    window = None if held is None else Window(*held)
    read = read_head(here.capture, here.layer, here.head, window=window)
    read = in_view(here, read) if kind == "encoder" else read
    view, scale = read.view, scale_of(read.view, WEIGHTS, shares=read.shares)
    texts = translated(map_component.texts_of(read.shows, mean=False))
    payload = map_component.HeadMapPicture(
        values=view.values,
        window=view.inside,
        total=view.total,
        row_labels=view.row_labels,
        col_labels=view.column_labels,
        **asdict(scale),
        selected=view.units_at(here.query, here.key),
        pool=view.pool,
        left_out=view.left_out,
        texts=texts | {"summary": _says(here, kind), "note": sink_note(here)},
        max_height=HEIGHT,
    ).packed()
    return DrawnHead(here, read, scale, payload)


def _events(view: HeadMap) -> Handlers:
    """The map's event handlers. They change the page's state, since its tokens are not the open model's."""
    q, k = view.whole.q0, view.whole.k0

    def pin(cell: list[int | None] | None) -> None:
        query, key = cell if cell is not None else (None, None)
        change(
            FamiliesState,
            query=None if query is None else view.units[q + query].stop - 1,
            key=None if key is None else view.units[k + key].stop - 1,
        )

    def zoom(edges: list[int] | None) -> None:
        rows, columns = view.total
        whole = edges is None or list(edges) == [0, rows, 0, columns]
        moved = [int(edge) + by for edge, by in zip(edges or [0] * 4, (q, q, k, k), strict=True)]
        change(FamiliesState, window=None if whole else selection.UrlWindow(*moved))

    return {"cell": pin, "window": zoom}
