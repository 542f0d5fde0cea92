"""The open head: its selection, the drawing and export of its map, and the events that the map sends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.chosen_keys import leaves_out
from analysis.color_scale import Scale, scale_of
from analysis.head_map import HeadMap, Reading, Window
from analysis.keys_seen import beside_attention, keys_seen
from analysis.own_mask import LEFT_OUT, keys_read
from analysis.read_head import WEIGHTS, ReadHead, read_head
from analysis.sentences import joined
from analysis.silence import heard_window
from analysis.sinks import sink_words
from analysis.strongest_key import look_words, strongest_key
from ui.shell.components import Handlers, mount
from ui.shell.page import PageContext, translated
from ui.state import selection, session
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.head_map import head_map as map_component
from viz.token_text import lone_spaces

N_ = str  # marks a text for Babel without translating it here

COVERED = {"left_out": N_("covered until you answer"), "left_out_label": N_("covered until you answer")}
OVERVIEW = 48  # px per side of the overview beside a zoomed map


@dataclass(frozen=True, eq=False)
class DrawnHead:
    """What was ``read`` of the open head in the window in view, and the arguments given to its map."""

    opened: PageContext
    read: ReadHead
    scale: Scale
    payload: bytes


def draw_head(  # noqa: PLR0913  how a head is drawn, by keyword
    opened: PageContext,
    held: selection.UrlWindow | None,
    reading: Reading = WEIGHTS,
    other: tuple[int, int] | None = None,
    *,
    log: bool = False,
    max_height: int = 520,
    press: bool = False,
    quick: bool = False,
    covered: int | None = None,
) -> DrawnHead:
    """Draw the open head, or its difference from another head, in the window ``held``. Uses no session.

    ``quick``: another head may be fetched before its page has run. ``covered``: a token whose row is hidden because a
    question asks about it.
    """
    head = opened.capture, opened.layer, opened.head
    opens = None if reading.words else heard_window(opened.capture)
    read = read_head(*head, reading, other, window=opens if held is None else Window(*held))
    view = read.view
    scale = scale_of(view, reading, log=log, compared=other is not None, shares=read.shares)
    texts = map_component.texts_of(read.shows, mean=view.how == "mean")
    values, left_out, said = view.values, view.left_out, summary(opened, reading)
    zoomed = view.window != view.whole
    if covered is not None:
        texts |= COVERED
        values, left_out, said = *_without_row(view, covered), f"L{opened.layer}H{opened.head}"
    payload = map_component.HeadMapPicture(
        values=values,
        window=view.inside,
        total=view.total,
        row_labels=list(map(lone_spaces, view.row_labels)),
        col_labels=list(map(lone_spaces, view.column_labels)),
        **asdict(scale),
        selected=view.units_at(opened.query, opened.key),
        pool=view.pool,
        overview=read_head(*head, reading, other, pixels=OVERVIEW).view.values if zoomed and covered is None else None,
        texts=translated(texts) | {"summary": said, "note": _note(opened, read)},
        max_height=max_height,
        press=press,
        of=(opened.layer, opened.head) if quick else None,
        left_out=left_out,
    ).packed()
    return DrawnHead(opened, read, scale, payload)


def _without_row(view: HeadMap, token: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The map's values without this token's row, and a mask of the cells to hatch for it."""
    values, at = view.values.copy(), view.units_at(token, None)
    striped = np.zeros(values.shape, np.bool_) if view.left_out is None else view.left_out.copy()
    if at is not None:
        row = (at[0] - view.inside[0]) // view.pool[0]
        striped[row] = ~np.isnan(values[row])
        values[row] = np.nan
    return values, striped


def show_map(drawn: DrawnHead, key: str, on: Handlers | None = None) -> None:
    """Show the map. A click pins a cell, zooming requests a window; ``on`` handles further events."""
    asked = map_events(drawn.read.view, narrow=heard_window(drawn.opened.capture) is not None)
    mount(map_component.SOURCE, drawn.payload, key=key, on=asked | (on or {}))


def map_events(view: HeadMap, *, narrow: bool = False) -> Handlers:
    """The map's event handlers, which move the session's selection. A ``narrow`` map opens with a part of the whole."""
    units, (q, k) = view.units, (view.whole.q0, view.whole.k0)

    def pin(cell: list[int | None] | None) -> None:
        query, key = cell if cell is not None else (None, None)
        session.move(
            query=None if query is None else units[q + query].stop - 1,
            key=None if key is None else units[k + key].stop - 1,
        )

    def zoom(edges: list[int] | None) -> None:
        rows, columns = view.total
        whole = edges is None or list(edges) == [0, rows, 0, columns]
        moved = [int(edge) + by for edge, by in zip(edges or [0] * 4, (q, q, k, k), strict=True)]
        session.move(window=None if whole and not narrow else selection.UrlWindow(*moved))

    return {"cell": pin, "window": zoom}


def strongest(opened: PageContext, reading: Reading) -> tuple[int, int, float] | None:
    """The pinned query, the pinned key or else the one with the most weight, and that weight."""
    return strongest_key(
        opened.capture, opened.layer, opened.head, opened.query, opened.key, hide_first=reading.hides_first
    )


def summary(opened: PageContext, reading: Reading = WEIGHTS) -> str:
    """One sentence for screen readers and captions."""
    return look_words(opened.capture, f"L{opened.layer}H{opened.head}", strongest(opened, reading), _, number)


def sink_note(opened: PageContext) -> str:
    """Why the open head's rows do not sum to 1, in a sentence; empty if they do."""
    words = sink_words(opened.capture, opened.layer, opened.head, opened.runner.info.family)
    return _(words) if words else ""


def own_mask_note(opened: PageContext) -> str:
    """Which keys the model's own mask leaves for the pinned query; empty if there is no such mask."""
    query = opened.query
    found = None if query is None else keys_read(opened.capture, opened.layer, opened.head, query)
    return "" if found is None else _(LEFT_OUT).format(kept=found[0], visible=found[1])


def chosen_note(opened: PageContext) -> str:
    """Which keys the queries of an indexed (sparse) layer select; empty if they use all that they may attend to."""
    capture, layer = opened.capture, opened.layer
    if not leaves_out(capture, layer):
        return ""
    choice = capture.record(layer).choice
    if choice is None:
        return _("Each query reads the keys that an indexer chose; striped: others that it could see.")
    words = _(
        "Each query reads the {count} keys that the indexer of L{layer} scored highest; striped: others it could see."
    )
    return words.format(count=choice.top_k, layer=capture.choosing_layer(layer))


def _note(opened: PageContext, read: ReadHead) -> str:
    """How the numbers were processed; it is part of the figure, so that a copy carries it too."""
    parts, other = [], read.other
    if other is not None:
        words = _("L{a}H{b} minus L{c}H{d}: orange where the other looks more, indigo where this one does.")
        parts.append(words.format(a=opened.layer, b=opened.head, c=other[0], d=other[1]))
    words = (*keys_seen(opened.capture.record(opened.layer)), *beside_attention(opened.runner.info.family))
    parts += [_(one.text).format(**one.values) for one in words]
    parts.append(chosen_note(opened))
    notes = read.notes()
    sink = "" if read.reading.what == "scores" else sink_note(opened)
    parts += ["" if sink in map(_, notes) else sink, own_mask_note(opened)]
    parts += map(_, notes)
    return joined(*parts)


def width_of(names: Iterable[str]) -> int:
    """Width in px of a list that shows the longest of these layer or head names in full: H5, H5 · kv 2, H0 − λ·H2."""
    longest = max(map(len, names))
    return 84 if longest < 6 else 116 if longest < 10 else 60 + 8 * longest
