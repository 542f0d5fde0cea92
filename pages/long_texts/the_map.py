"""The first view of the page Long texts: the open head's map, as tiles that the browser requests."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from weakref import ref

import streamlit as st

from analysis.away import away
from analysis.head_map import Pooled
from analysis.look_distances import LookDistances, look_distances
from analysis.made_there import far_maker
from analysis.mask_effect import looks_ahead
from analysis.read_head import WEIGHTS
from jobs.tile_server import TileServer
from pages.long_texts.place import look_at, pin, window_held
from pages.long_texts.state import LongTextsState, state
from ui.shared import cached
from ui.shared.display_menu import choose_display, display_menu, show_changed
from ui.shared.finding import key_name, query_name, show_finding
from ui.shared.head_views import strongest
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.state import selection, session
from ui.state.controls import number
from ui.state.page_state import keep, refuse
from ui.wording import sentences
from ui.wording.i18n import _
from viz.components.long_map import long_map

ROUNDED = 100  # tokens; from here on a distance is told in tens
SHOWN = 0.05  # of the attention; less is hardly seen on the map


@dataclass(frozen=True, eq=False)
class LongMapView:
    """What is drawn: the map that is ``opened`` for the browser, the window in view, and what counts as far."""

    opened: TileServer
    window: selection.UrlWindow
    pooling: Pooled
    log: bool
    far: int


def show_map(opened: PageContext) -> LongMapView:
    """Show the finding, the display menu and the map; a click pins a cell, moving requests tiles."""
    held, n_tokens = state(), len(opened.capture.tokens)
    far = _far(held.far, n_tokens)
    far_chosen = None if far == max(1, n_tokens // 8) else far
    poolings, colors = {"max": _("largest"), "mean": _("mean")}, {"log": "log", "linear": _("linear")}
    with st.container(key="long_controls", horizontal=True, vertical_alignment="center", gap="small"):
        distances = _distances(opened, far)
        show_finding(*_finding(opened, distances))
        show_changed(
            LongTextsState,
            {
                "pooling": (held.pooling, poolings[held.pooling]),
                "color": (held.color, colors[held.color]),
                "far": (far_chosen, _("far: {count} tokens").format(count=f"{far:,}")),
            },
        )
        with display_menu("long"):
            choose_display(LongTextsState, "pooling", held.pooling, poolings)
            choose_display(LongTextsState, "color", held.color, colors)
            number(LongTextsState, "far", far, (1, n_tokens), _("far: tokens away"), width=150)
    served = _served(opened)
    window = _window(n_tokens)
    payload = long_map.LongMapPicture(
        labels=[token.text for token in opened.capture.tokens],
        causal=not looks_ahead(opened.capture),
        layer=opened.layer,
        head=opened.head,
        ticket=served.ticket,
        pooling=held.pooling,
        log=held.color == "log",
        far=far,
        window=None if window == selection.UrlWindow(0, n_tokens, 0, n_tokens) else window,
        selected=None if opened.query is None else (opened.query, opened.key),
        bands=_bands(distances),
        texts=translated(long_map.TEXTS),
    ).packed()
    on = {"cell": _pin, "window": _look, "refused": lambda _ticket: None}
    mount(long_map.SOURCE, payload, key="long_map", on=on)
    return LongMapView(served, window, held.pooling, held.color == "log", far)


def _distances(opened: PageContext, far: int) -> LookDistances | None:
    """How far back the open head attends, computed once."""
    key = ("look distances", repr(opened.capture.request), opened.layer, opened.head, far)
    return cached.made(key, lambda: look_distances(opened.capture, opened.layer, opened.head, least=far))


def _finding(opened: PageContext, distances: LookDistances | None) -> tuple[str, str]:
    """How much of the head's attention is near and far, and what the pinned token attends to most; HTML."""
    name, count = f"L{opened.layer}H{opened.head}", len(opened.capture.tokens)
    of_text = _("{count} tokens").format(count=f"{count:,}")
    look, away = _strongest(opened)
    if distances is None:
        return look or name, " · ".join(part for part in (name if look else "", away, of_text) if part)
    shares = {part: sentences.number(getattr(distances, part), "share") for part in ("near", "far", "first")}
    said = _("{head} puts {near} on the last {least} tokens, {far} farther back")
    if distances.first >= SHOWN:
        said = _("{head} puts {near} on the last {least} tokens, {far} farther back, {first} on the first")
    said = escape(said.format(head=name, least=f"{distances.least:,}", **shares))
    return said, look if distances.first < SHOWN else ""  # of one line, with the menu behind it


def _strongest(opened: PageContext) -> tuple[str, str]:
    """What the pinned token attends to most (HTML), and how far back; empty if it attends to nothing."""
    found = strongest(opened, WEIGHTS)
    if found is None:
        return "", ""
    query, key, weight = found
    said = _("{query} puts {value} on {key}").format(
        query=query_name(opened.capture, query),
        key=key_name(opened.capture, key),
        value=sentences.number(weight, "share"),
    )
    away = _("{count} tokens away").format(count=f"{abs(query - key):,}") if abs(query - key) > 1 else ""
    return said, away


def _bands(found: LookDistances | None) -> list[long_map.MapBand]:
    """The labels of the band at the diagonal and of the one farther back, if there is one to see."""
    if found is None:
        return []
    near, far = (sentences.number(share, "share") for share in (found.near, found.far))
    names = _("near: {share}").format(share=near)
    words = _("near: {share}, at most {count} tokens back").format(share=near, count=f"{found.least - 1:,}")
    bands = [long_map.MapBand(0, words, names)]
    if found.band is not None and found.far >= SHOWN:
        peak, end = found.band
        about = f"{round(peak, -1 if peak >= ROUNDED else 0):,}"
        words = _("far: {share}, most often about {count} tokens back").format(share=far, count=about)
        bands.append(long_map.MapBand(end, words, _("far: {share}").format(share=far)))
    return bands


def _far(chosen: int | None, n_tokens: int) -> int:
    """The distance that counts as far: an eighth of the text, unless another one within the text was chosen."""
    usual = max(1, n_tokens // 8)
    if chosen is not None and chosen > n_tokens:
        words = _("The text has {tokens} tokens: no two are {far} apart.")
        refuse(LongTextsState, "far", words.format(tokens=f"{n_tokens:,}", far=f"{chosen:,}"))
    elif chosen == usual:
        keep(LongTextsState, far=None)
    elif chosen is not None:
        return chosen
    return usual


def _served(opened: PageContext) -> TileServer:
    """The session's tile server for its capture; the open layer has passed its verification."""
    jobs, kept, key = session.jobs(), session.kept(), (ref(opened.runner), opened.capture.request)
    most = kept.most // 8  # of the cache shared by all sessions
    alone = opened.capture if far_maker(opened.capture) else away(opened.capture)  # does not keep the model in memory
    grown = jobs.weighing("long_map", kept)
    served: TileServer = jobs.get("long_map", key, lambda _name: TileServer(alone, most, grown=grown))
    served.show(opened.layer)
    jobs.weigh("long_map", kept)
    return served


def _window(n_tokens: int) -> selection.UrlWindow:
    """The visible part, square and inside the text; all of it if the stored one is invalid."""
    held = window_held()
    if held is None or not (held.q0 < held.q1 <= n_tokens and held.k0 < held.k1 <= n_tokens):
        return selection.UrlWindow(0, n_tokens, 0, n_tokens)
    side = min(n_tokens, max(held.q1 - held.q0, held.k1 - held.k0))
    q0, k0 = min(held.q0, n_tokens - side), min(held.k0, n_tokens - side)
    return selection.UrlWindow(q0, q0 + side, k0, k0 + side)


def _pin(cell: list[int | None] | None) -> None:
    query, key = cell if cell is not None else (None, None)
    pin(query, key)


def _look(edges: list[int] | None) -> None:
    look_at(None if edges is None else selection.UrlWindow(*(int(edge) for edge in edges)))
