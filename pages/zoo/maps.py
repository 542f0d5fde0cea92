"""The first view of the page Zoo: the head's own map, a variant's, and a second variant's or the difference."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.chosen_keys import leaves_out, left_out_cells
from analysis.color_scale import Scale, change_scale
from analysis.head_map import HeadMap, Window, clip_window
from analysis.joined import first_query, n_looked_at
from analysis.strongest_key import look_words
from analysis.units import token_units
from analysis.zoo import Compared, captured_head, own, substituted
from attention.zoo.head import Head
from attention.zoo.variant import Variant
from pages.zoo.cut import show_cut
from pages.zoo.latent import show_kept
from pages.zoo.numbers import show_looks, show_numbers, show_recurrent, show_rule, show_work, variant_words
from pages.zoo.parts import show_parts, show_persistent
from pages.zoo.state import BY_NAME, DIFFERENCE, ZooState, first_drawn, show_sliders, state, values_of
from pages.zoo.stream import show_stream
from ui.shared.finding import show_finding
from ui.shared.head_views import map_events
from ui.shell.components import mount, name_figure, show_heading, show_html
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.state.controls import pick
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.head_map import head_map as map_component
from viz.flow import flow
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here

HEIGHT = 380  # px; three maps fit side by side
OVERVIEW = 48  # px per side of the overview beside a zoomed map
DIFFERENT = N_("difference from softmax")
SIGNED = N_("{query} → {key}: weight {value}")


@dataclass(frozen=True, eq=False)
class Rival:
    """A variant with its parameters, applied to this head; ``found`` is None if it does not apply."""

    variant: Variant
    values: dict[str, int]
    found: Compared | None


@dataclass(frozen=True, eq=False)
class ZooMaps:
    """What is in view. ``payloads`` are those of the maps side by side, by what each shows."""

    opened: PageContext
    start: int  # the first token drawn
    own: Compared
    first: Rival
    second: Rival | None
    view: HeadMap  # of softmax
    payloads: dict[str, bytes]


def show_maps(opened: PageContext) -> ZooMaps:
    """Show softmax on the left with all variants' numbers below it, the variant, and the second map."""
    start = first_drawn(len(opened.capture.tokens))
    head = captured_head(opened.capture, opened.layer, opened.head, start)
    usual, first, other = own(head), _rival(head, state().first), state().second
    second = None if other is None else _rival(head, other)
    name = f"L{opened.layer}H{opened.head}"
    if first.found is not None:
        show_finding(*_finding(name, first.variant, first.found, other), of_several=True)
    left, middle, right = st.columns(3, gap="medium")
    with left:
        with st.container(key="zoo_own", height=36, border=False, vertical_alignment="center"):
            words = _("softmax over only these tokens") if start else _("softmax, as the model has it")
            show_heading(name, escape(words))
        scale = Scale("sequential", 0.0, 1.0, False, "percent")
        view, payload = _show_map(opened, usual.weights, scale, "zoo_softmax", "softmax")
        payloads = {"softmax": payload}
    with middle:
        pick(ZooState, "variant", first.variant.name, {one.name: _(one.label) for one in BY_NAME.values()})
        label = _(first.variant.label)
        if first.found is not None:
            scale, signed = scale_of(first.found, first.variant), first.variant.signed
            name_figure(escape(label))
            _view, payloads[label] = _show_map(opened, first.found.weights, scale, "zoo_first", label, signed=signed)
        _show_below(opened, head, first)
    with right:
        words = {DIFFERENCE: _(DIFFERENT)} | {one.name: _(one.label) for one in BY_NAME.values()}
        pick(ZooState, "beside", state().beside, words)
        payloads |= _show_right(opened, head, first, second)
    with left:
        show_cut(opened, start)
        show_numbers(usual, [(one.variant, one.found) for one in (first, second) if one is not None], head.q.shape[-1])
    return ZooMaps(opened, start, usual, first, second, view, payloads)


def _finding(head: str, variant: Variant, found: Compared, beside: Variant | None) -> tuple[str, str]:
    """How far the variant's attention is from softmax or, if its weights are signed, how far its output is; HTML.

    Then which pictures are side by side; ``beside`` None: the difference is at the right.
    """
    named = {"variant": _short(variant), "head": head}
    pictures = _("same queries and keys: left softmax, middle {variant}, right the difference")
    if beside is not None:
        pictures = _("same queries and keys: left softmax, middle {variant}, right {other}")
    pictures = pictures.format(variant=_short(variant), other="" if beside is None else _short(beside))
    if variant.signed:
        said = _("With {variant}, {head}’s output has cosine {value} with softmax’s")
        return escape(said.format(**named, value=variant_words("direction", found))), escape(pictures)
    elsewhere = variant_words("elsewhere", found)
    said = _("With {variant} instead of softmax, {share} of {head}’s attention goes to other tokens").format(
        **named, share=elsewhere
    )
    if elsewhere == number(0.0, "share"):
        said = _("With {variant}, {head} attends as with softmax").format(**named)
    return escape(said), escape(pictures)


def _short(variant: Variant) -> str:
    """Its name without the part in brackets."""
    return _(variant.label).split(" (")[0].split("（")[0]


def scale_of(found: Compared, variant: Variant) -> Scale:
    """Weights from 0 to 1, so that maps can be compared; signed weights around 0, up to the largest."""
    if not variant.signed:
        return Scale("sequential", 0.0, 1.0, False, "percent")
    high = float(np.nanmax(np.abs(found.weights), initial=1e-9))
    return Scale("diverging", -high, high, False, "plain")


def _rival(head: Head, variant: Variant) -> Rival:
    values = values_of(variant, head.n_tokens)
    return Rival(variant, values, None if variant.refusal(head) else substituted(head, variant, values))


def _show_right(opened: PageContext, head: Head, first: Rival, second: Rival | None) -> dict[str, bytes]:
    """Show the second variant's map, or the difference of the first from softmax; returns the payloads."""
    drawn: dict[str, bytes] = {}
    if second is not None:
        if second.found is not None:
            label, scale = _(second.variant.label), scale_of(second.found, second.variant)
            signed = second.variant.signed
            name_figure(escape(label))
            _view, drawn[label] = _show_map(opened, second.found.weights, scale, "zoo_second", label, signed=signed)
        _show_below(opened, head, second, key="second", sliders=second.variant is not first.variant)
    elif first.found is not None:
        scale, label = change_scale(first.found.difference), f"{_(first.variant.label)} · {_(DIFFERENT)}"
        name_figure(escape(_(DIFFERENT)))
        _view, drawn[label] = _show_map(opened, first.found.difference, scale, "zoo_difference", _(DIFFERENT))
        show_looks(opened, first.variant, first.found)
    return drawn


def _show_below(opened: PageContext, head: Head, rival: Rival, key: str = "first", *, sliders: bool = True) -> None:
    """Describe the variant: what it ignores of this head, or why it does not apply.

    ``sliders``: show its parameters.
    """
    label = _(rival.variant.label)
    if refusal := rival.variant.refusal(head):
        st.info(plain(_(refusal).format(variant=label)))
        return
    # directly below the map, since a screen of 900 pixels ends soon after
    if (parts := rival.variant.flow) is not None:
        lanes = [[_(one) for one in lane] for lane in parts.lanes]
        show_html(flow(_("text"), lanes, _(parts.join) if parts.join else "", _("output")), key=f"{key}_flow")
    if rival.found is not None:
        show_parts(rival.variant, rival.values, rival.found.weights, key=f"{key}_parts")
        show_persistent(rival.variant, head, rival.values)
    show_rule(rival.variant)
    with st.container(key=f"zoo_sliders_{key}", gap=None):
        shown = rival.variant.parameters if sliders else ()
        show_sliders(rival.variant, shown, rival.values, head.n_tokens)
    left_out = [_(words).format(variant=label) for words in rival.variant.left_out(head)]
    show_work(rival.variant, rival.values, head.q.shape[-1], left_out)
    show_recurrent(rival.variant, head, rival.values)
    if rival.variant.name == "mla":
        show_kept(opened, head, rival.values["rank"])
    show_stream(opened, rival.variant, rival.values, key)


def _show_map(
    opened: PageContext, values: np.ndarray, scale: Scale, key: str, label: str, *, signed: bool = False
) -> tuple[HeadMap, bytes]:
    """Show a map of the tokens drawn, within the session's window; a click pins the cell on all maps."""
    held = session.selection().window
    start = first_drawn(len(opened.capture.tokens))
    view = head_view(opened, values, None if held is None else Window(*held), start)
    texts = map_component.texts_of("difference" if key == "zoo_difference" else "weights", mean=False)
    texts |= {"cell": SIGNED} if signed else {}
    drawn = view.window != view.whole
    payload = map_component.HeadMapPicture(
        values=view.values,
        window=view.inside,
        total=view.total,
        row_labels=view.row_labels,
        col_labels=view.column_labels,
        **asdict(scale),
        selected=_selected(opened, view),
        pool=view.pool,
        left_out=view.left_out,
        overview=_small(head_view(opened, values, None, start).values) if drawn else None,
        texts=translated(texts) | {"summary": _summary(opened, view, label, shares=scale.scale == "sequential")},
        max_height=HEIGHT,
    ).packed()
    mount(map_component.SOURCE, payload, key=key, on=map_events(view))
    return view, payload


def head_view(opened: PageContext, values: np.ndarray, wanted: Window | None, start: int = 0) -> HeadMap:
    """The values, for tokens from ``start`` on, as a map cut to a window; for two texts, their cross-attention."""
    stop, capture = start + len(values), opened.capture
    whole = Window(start, stop, start, stop)
    if first_query(capture) and stop == len(capture.tokens):
        whole = Window(first_query(capture), stop, 0, n_looked_at(capture))
    window = clip_window(wanted, whole)
    units = token_units(opened.capture)[:stop]
    rows, columns = slice(window.q0 - start, window.q1 - start), slice(window.k0 - start, window.k1 - start)
    shown = values[rows, columns].astype(np.float32)
    return HeadMap(shown, window, whole, units, (1, 1), "exact", _left_out(opened, window, np.isnan(shown)))


def _left_out(opened: PageContext, window: Window, masked: np.ndarray) -> np.ndarray | None:
    """Masked cells whose keys an indexer did not select; None for a head that uses every key."""
    if not leaves_out(opened.capture, opened.layer):
        return None
    queries, keys = slice(window.q0, window.q1), slice(window.k0, window.k1)
    return left_out_cells(opened.capture, opened.layer, opened.head, queries, keys).cpu().numpy() & masked


def _summary(opened: PageContext, view: HeadMap, label: str, *, shares: bool) -> str:
    """The largest cell of the pinned query, or of the last one, as a sentence for screen readers."""
    wanted = view.window.q1 - 1 if opened.query is None else opened.query
    row = min(view.window.q1 - 1, max(view.window.q0, wanted))
    cells = np.nan_to_num(view.values[row - view.window.q0])
    key = view.window.k0 + int(np.abs(cells).argmax())
    found = row, key, float(cells[key - view.window.k0])
    return look_words(opened.capture, label, found, _, number if shares else lambda value, _unit: f"{value:.2f}")


def _selected(opened: PageContext, view: HeadMap) -> tuple[int, int | None] | None:
    """The pinned cell, if it is among the tokens drawn."""
    whole = view.whole
    query = opened.query if opened.query in range(whole.q0, whole.q1) else None
    return view.units_at(query, opened.key if opened.key in range(whole.k0, whole.k1) else None)


def _small(values: np.ndarray) -> np.ndarray:
    """The whole map in few pixels, each the largest of its cells."""
    rows, columns = (np.arange(0, count, -(-count // OVERVIEW)) for count in values.shape)
    return np.fmax.reduceat(np.fmax.reduceat(values, rows, axis=0), columns, axis=1).astype(np.float32)
