"""The first two views of the page Positions: the rotation of one token, and two tokens moved to other positions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.number_text import error_size
from analysis.positions import Turned, dials, moved_cell, shift_deviation
from pages.positions.finding import show_turned
from pages.positions.places import titled
from pages.positions.state import pin, pinned, place, put, state, tie, widen
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from viz.components.rotation import rotation, score_shift
from viz.export import map_svg
from viz.position_svg import dials_svg

CELLS = 64  # positions of the exported map of scores


def show_rotation(opened: PageContext, layout: Turned, token: int) -> ExportBundle:
    """The pairs of one token's query and key, rotated by a slider."""
    found, context = dials(opened.capture, opened.layer, opened.head, token), opened.runner.info.max_tokens
    own, n_still = found.position, layout.d_head - 2 * len(layout.theta)
    name, text = f"L{opened.layer}H{opened.head}", opened.capture.tokens[token].text
    notes = []
    if n_still:
        words = _("{count} of the {total} dimensions are not turned in this layer.")
        notes.append(words.format(count=n_still, total=layout.d_head))
    if layout.factor != 1:
        notes.append(_("The rotation also stretches by {factor}.").format(factor=f"{layout.factor:.4g}"))
    position = place("at", own, rotation.FARTHEST * context)
    show_turned(opened, layout.theta, token, position)
    payload = rotation.RotationPicture(
        head=name,
        token=text,
        own=own,
        position=position,
        span=state().span,
        context=context,
        q=found.q_before,
        k=found.k_before,
        theta=layout.theta,
        dimensions=layout.pairs,
        factor=layout.factor,
        difference=error_size(layout.difference),
        pair=pinned(len(layout.theta)),
        notes=notes,
        texts=translated(rotation.TEXTS),
    ).packed()
    mount(rotation.SOURCE, payload, key="rotation", on={"position": put("at", own), "span": widen, "pair": pin})
    vectors = [found.q_before, found.q_after, found.k_before, found.k_after]
    columns = [f"{vector}_{side}_{part}" for vector in "qk" for side in ("before", "after") for part in (0, 1)]
    table = pd.DataFrame(
        np.column_stack([layout.theta, layout.wavelengths, found.angles, *vectors]),
        index=[f"{a}, {b}" for a, b in layout.pairs.tolist()],
        columns=["theta", "wavelength", "angle", *columns],
    )
    title = titled(opened, _("rotation"))
    return ExportBundle(
        name=f"positions-{name}-rotation",
        title=title,
        what=f"q and k of token {token} ({text}) by rotated pair, before and after the rotation to position {own}",
        tables=lambda: {title: table},
        page=component_page(rotation.SOURCE, payload),
        picture=lambda title, words: dials_svg(
            vectors[0], vectors[2], found.angles, layout.theta, title=title, caption=words
        ),
        arrays=dict(zip(("q_before", "q_after", "k_before", "k_after"), vectors, strict=True))
        | {"theta": layout.theta, "wavelengths": layout.wavelengths, "pairs": layout.pairs},
        code="\nfrom attention_atlas.analysis.positions import dials, turned\n\n"
        f"layout = turned(capture, {opened.layer})  # theta, wavelengths, pairs\n"
        f"found = dials(capture, {opened.layer}, {opened.head}, {token})  # q_before, q_after, k_before, k_after",
    )


def show_shift(opened: PageContext, layout: Turned, query: int, key: int) -> ExportBundle:
    """The score of two tokens' contents at any two positions."""
    capture, layer, head = opened.capture, opened.layer, opened.head
    moved, record = moved_cell(capture, layer, head, query, key), capture.record(layer)
    context = opened.runner.info.max_tokens
    places = place("m", moved.query, context), place("n", moved.key, context)
    payload = score_shift.ScoreShiftPicture(
        head=f"L{layer}H{head}",
        tokens=(capture.tokens[query].text, capture.tokens[key].text),
        own=(moved.query, moved.key),
        positions=places,
        span=state().span,
        lock=state().lock,
        context=context,
        causal=_is_causal(opened),
        q=dials(capture, layer, head, query).q_before,
        k=dials(capture, layer, head, key).k_before,
        theta=layout.theta,
        scale=record.scale * layout.factor**2,
        rest=moved.rest,
        softcap=moved.softcap,
        deviation=error_size(shift_deviation(capture, layer, head).deviation),
        texts=translated(score_shift.TEXTS),
    ).packed()

    def put_both(both: list[int]) -> None:
        put("m", moved.query)(both[0])
        put("n", moved.key)(both[1])

    mount(score_shift.SOURCE, payload, key="score_shift", on={"positions": put_both, "span": widen, "lock": tie})
    by_difference = np.array([moved.score(difference, 0) for difference in range(1 - CELLS, CELLS)])
    scores = by_difference[np.arange(CELLS)[:, None] - np.arange(CELLS)[None, :] + CELLS - 1]
    labels, most = [str(position) for position in range(CELLS)], float(np.abs(scores).max())
    words = translated({"row_axis": score_shift.TEXTS["axis_m"], "column_axis": score_shift.TEXTS["axis_n"]})
    title = titled(opened, _("position difference"))
    return ExportBundle(
        name=f"positions-L{layer}H{head}-difference",
        title=title,
        what=f"score before mask of query {query} and key {key} with their contents at positions m (rows), n (columns)",
        tables=lambda: {title: pd.DataFrame(scores, [f"m {m}" for m in labels], [f"n {n}" for n in labels])},
        page=component_page(score_shift.SOURCE, payload),
        picture=lambda title, about: map_svg(
            scores, row_labels=labels, col_labels=labels, scale="diverging", low=-most, high=most, log=False,
            title=title, caption=about, number="plain", texts=words,
        ),
        arrays={"scores": scores, "theta": moved.theta, "amplitude": moved.amplitude, "phase": moved.phase},
        code="\nfrom attention_atlas.analysis.positions import moved_cell, shift_deviation\n\n"
        f"moved = moved_cell(capture, {layer}, {head}, {query}, {key})\n"
        f"score = moved.score({places[0]}, {places[1]})\n"
        f"largest_change = shift_deviation(capture, {layer}, {head}).deviation",
    )  # fmt: skip  # the map's many settings in two lines


def _is_causal(opened: PageContext) -> bool:
    """Return True if the first token cannot attend to the last one."""
    last = len(opened.capture.tokens) - 1
    tile = opened.capture.record(opened.layer).mask.tile(
        slice(0, 1), slice(last, last + 1), opened.capture.hidden.device
    )
    return last == 0 or not bool(tile[0, 0])
