"""The first view of the page Compare: both heads' maps over the same pieces of text, and their difference."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.aligned_heads import AlignedHeads, PieceMap, aligned_heads
from analysis.color_scale import Scale, change_scale
from analysis.number_text import error_size
from analysis.sentences import joined
from pages.compare.names import names_of, note_of
from pages.compare.state import state
from ui.shared import cached
from ui.shared.finding import show_finding
from ui.shared.head_views import sink_note
from ui.shell.components import Handlers, mount, name_figure
from ui.shell.page import PageContext, translated
from ui.state import selection, session
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.head_map import head_map as map_component

N_ = str  # marks a text for Babel without translating it here

MOST_TOKENS = 256  # per side: every piece is a pixel, and three whole maps are sent
MAP_HEIGHT = 430
SIDES = ("A", "B", "A − B")
LINE = "white-space:nowrap;overflow:hidden;text-overflow:ellipsis"  # keeps the maps side by side


@dataclass(frozen=True, eq=False)
class ComparedMaps:
    """What was drawn, for export: the maps of A, of B and of their difference, if there is one."""

    view: AlignedHeads
    payloads: tuple[bytes | None, ...]  # payloads of the same three


def show_maps(opened: PageContext, other: PageContext) -> ComparedMaps | None:
    """Show the maps side by side; a click pins the piece in all three. None, with a sentence, for longer texts."""
    longest = max(len(side.capture.tokens) for side in (opened, other))
    if longest > MOST_TOKENS:
        words = _("Maps are compared for texts of up to {most} tokens; here one has {count}.")
        st.info(words.format(most=MOST_TOKENS, count=f"{longest:,}"))
        return None
    view = aligned_view(opened, other)
    weights = Scale("sequential", 0.0, 1.0, False, "percent")
    scales = (weights, weights, change_scale(view.difference.values))
    payloads: list[bytes | None] = []
    names = names_of(opened, other, layers=state().layers)
    if _common_words(opened, view):
        apart = _("{share} of the attention goes to other tokens in B than in A").format(
            share=number(view.elsewhere, "share")
        )
        same = _("A and B look at the same tokens")
        beside = _("indigo: A looks more, orange: B does")
        show_finding(apart if view.elsewhere > 0 else same, beside, of_several=True)
    headings = [*names, ""]
    for side, column in enumerate(st.columns(3, gap="small")):
        with column:
            words, name = escape(headings[side]), SIDES[side]
            st.html(f"<div class='atlas-head' style='{LINE}' title='{words}'><b>{name}</b> <span>{words}</span></div>")
            name_figure(name, words)
            payloads.append(_show_map(opened, other, view, side, scales[side]))
    st.html(f"<p class='atlas-caption'>{_caption(opened, other, view)}</p>")
    return ComparedMaps(view, tuple(payloads))


def aligned_view(opened: PageContext, other: PageContext) -> AlignedHeads:
    """The two open heads, or the mean heads of their layers, aligned; cached for both requests."""
    layers = state().layers
    heads = tuple((side.layer, None if layers else side.head) for side in (opened, other))
    key = ("aligned", repr(opened.capture.request), heads[0], repr(other.capture.request), heads[1])
    return cached.made(key, lambda: aligned_heads(opened.capture, heads[0], other.capture, heads[1]))


def _show_map(opened: PageContext, other: PageContext, view: AlignedHeads, side: int, scale: Scale) -> bytes | None:
    one = view.maps[side]
    if side == 2 and not _common_words(opened, view):
        st.info(_("The two texts have no word in common: there is no difference to draw."))
        return None
    window = _window_in(view, one)
    q0, q1, k0, k1 = window
    count = len(one.places)
    words = translated(map_component.texts_of("difference" if side == 2 else "weights", mean=False))
    if side == 2 and any(view.n_unshared):
        words |= {"masked_label": _("masked, or on one side only"), "masked": _("{query} → {key}: no difference")}
    payload = map_component.HeadMapPicture(
        values=one.values[q0:q1, k0:k1],
        left_out=None if one.left_out is None else one.left_out[q0:q1, k0:k1],
        window=window,
        total=(count, count),
        row_labels=one.labels[q0:q1],
        col_labels=one.labels[k0:k1],
        scale=scale.scale,
        low=scale.low,
        high=scale.high,
        log=scale.log,
        number=scale.number,
        selected=_selected(opened, view, one),
        pool=(1, 1),
        overview=None if window == (0, count, 0, count) else one.values,
        texts=words
        | {"summary": _summary((opened, other), side), "note": note_of(view, side, (opened.capture, other.capture))},
        max_height=MAP_HEIGHT,
    ).packed()
    mount(map_component.SOURCE, payload, key=f"compare_map_{side}", on=_events(opened, view, one))
    return payload


def _common_words(opened: PageContext, view: AlignedHeads) -> bool:
    """Return True if the texts share more than special tokens."""
    runs = [piece.a for piece in view.pieces if piece.a is not None and piece.b is not None]
    return any(opened.capture.tokens[i].end > opened.capture.tokens[i].start for run in runs for i in run)


def _selected(opened: PageContext, view: AlignedHeads, one: PieceMap) -> tuple[int, int | None] | None:
    """The pinned cell of A, if this map has it."""
    row = one.at(view.place_of(opened.query))
    return None if row is None else (row, one.at(view.place_of(opened.key)))


def _window_in(view: AlignedHeads, one: PieceMap) -> tuple[int, int, int, int]:
    """The session's window, in tokens of A, as rows and columns of this map; all of it without a window."""
    held = session.selection().window
    whole = (0, len(one.places), 0, len(one.places))
    if held is None:
        return whole
    found: list[int] = []
    for first, last in ((held.q0, held.q1), (held.k0, held.k1)):
        start, stop = view.place_of(first), view.place_of(last - 1)
        inside = [
            i for i, place in enumerate(one.places) if start is not None and stop is not None and start <= place <= stop
        ]
        if not inside:
            return whole
        found += [inside[0], inside[-1] + 1]
    return found[0], found[1], found[2], found[3]


def _events(opened: PageContext, view: AlignedHeads, one: PieceMap) -> Handlers:
    """The map's event handlers, which change the session's selection in A."""

    def token(row: int | None) -> int | None:
        run = None if row is None else view.pieces[one.places[row]].a
        return None if run is None else run[-1]

    def pin(cell: list[int | None] | None) -> None:
        query, key = cell if cell is not None else (None, None)
        if query is None or token(query) is not None:  # a piece only in B has no position in A
            session.move(query=token(query), key=token(key))

    def zoom(edges: list[int] | None) -> None:
        count = len(one.places)
        if edges is None or [*edges] == [0, count] * 2:
            session.move(window=None)
            return
        spans = [
            [view.pieces[selection].a for selection in one.places[first:last]] for first, last in (edges[:2], edges[2:])
        ]
        runs = [[run for run in span if run is not None] for span in spans]
        if all(runs):
            queries, keys = runs
            session.move(window=selection.UrlWindow(queries[0][0], queries[-1][-1] + 1, keys[0][0], keys[-1][-1] + 1))

    return {"cell": pin, "window": zoom}


def _caption(opened: PageContext, other: PageContext, view: AlignedHeads) -> str:
    """What both sides' pinned token attends to, in pieces as drawn; HTML."""
    pinned = view.place_of(opened.query)
    told = [_looks(view, side, row) for side in (0, 1) if (row := view.maps[side].at(pinned)) is not None]
    check = cached.check(other.capture, other.layer)
    how = _("Each row is a token looking.")
    size = _("The layer of B, recomputed, differs from its model’s own output by at most {error}.")
    told = told or [escape(_("Click a cell to pin it in all maps."))]
    size = escape(size.format(error=error_size(check.max_abs_error)))
    return joined(escape(how), *told, *_sinks(opened, other), size)


def _sinks(opened: PageContext, other: PageContext) -> list[str]:
    """How a learned sink affects the rows of each side, once if it is the same; HTML."""
    a, b = (escape(sink_note(side)) for side in (opened, other))
    return [a] if a == b else [f"{name}: {words}" for name, words in zip(SIDES, (a, b), strict=False) if words]


def _looks(view: AlignedHeads, side: int, row: int) -> str:
    """One side's pinned piece and the piece that it attends to most; empty if it attends to none. HTML."""
    one = view.maps[side]
    if np.isnan(one.values[row]).all():
        return ""
    column = int(np.nanargmax(one.values[row]))
    words = _("{query} looks most at {key}, {value}.").format(
        query=f"<span class='atlas-q'>{_named(view, side, row)}</span>",
        key=f"<span class='atlas-k'>{_named(view, side, column)}</span>",
        value=f"<b>{escape(number(float(one.values[row, column]), 'share'))}</b>",
    )
    return f"{SIDES[side]}: {words}"


def _named(view: AlignedHeads, side: int, row: int) -> str:
    """A piece with its token positions; HTML."""
    run = view.pieces[view.maps[side].places[row]].of(side) or range(0)
    positions = f"{run[0]}" if len(run) == 1 else f"{run[0]}–{run[-1]}"
    return f"<bdi>{escape(view.maps[side].labels[row])}</bdi> ({positions})"


def _summary(sides: tuple[PageContext, PageContext], side: int) -> str:
    """A map's description for screen readers."""
    first, second = (
        f"{name} · {words}" for name, words in zip(SIDES, names_of(*sides, layers=state().layers), strict=False)
    )
    return (first, second, _("{first} minus {second}").format(first=first, second=second))[side]
