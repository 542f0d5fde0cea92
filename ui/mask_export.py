"""What the page Masks gives away, one menu for each of its views: picture, page, tables and code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from attention.patterns import BY_NAME
from model_runner.edits import Masked
from ui.i18n import _
from ui.mask_gallery import CURVE, Gallery
from ui.mask_model import OnModel
from ui.mask_sweep import SweepView, sweep_figure
from ui.page import Opened, translated
from ui.tables import labelled
from ui.take_away import TakeAway, caption, python_start, show_take_away
from viz import curves, figure_svg
from viz.components.head_grid import head_grid as grid_component
from viz.components.mask_gallery import mask_gallery
from viz.export import csv_bytes, map_svg, npz_bytes, standalone_html

CHANGED = (
    "\nfrom dataclasses import replace\n\nfrom model_runner.edits import {names}\n\n"
    "edits = {edits}\nchanged = runner.capture(replace(capture.request, edits=edits))\n"
)


def _labels(opened: Opened, count: int) -> list[str]:
    return [f"{position} {token.text}" for position, token in enumerate(opened.capture.tokens[:count])]


# -- gallery ----------------------------------------------------------------------------------------------------------


def gallery_tables(opened: Opened, gallery: Gallery) -> dict[str, pd.DataFrame]:
    """The large picture, and what long texts cost."""
    values = _gallery_values(gallery)
    tokens = {position: token.text for position, token in enumerate(opened.capture.tokens[: len(values)])}
    heading = _("distance at which a key seems to be") if gallery.index is not None else _(
        "layers until a query can have heard of a key; 1: the pattern keeps the cell"
    )  # fmt: skip
    tables = {heading: labelled(values, tokens, tokens)}
    if gallery.costs:
        rows = [f"{one.n_tokens:,}" for one, _full in gallery.costs]
        columns = [_("kept cells"), _("cells of full attention"), _("multiply-adds"), _("bytes of scores")]
        data = [[one.cells, full.cells, one.multiply_adds, one.n_bytes] for one, full in gallery.costs]
        tables[_("one text of so many tokens, by formula")] = pd.DataFrame(data, index=rows, columns=columns)
    return tables


def _gallery_values(gallery: Gallery) -> np.ndarray:
    """What the large picture shows, NaN where a query does not hear of a key."""
    if gallery.index is not None:
        future = np.triu(np.ones(gallery.index.distance.shape, bool), 1)
        return np.where(future, np.nan, gallery.index.distance.numpy())
    if gallery.picture is None:
        raise ValueError("a gallery shows a pattern or an index map")
    return np.where(gallery.picture.layers == 0, np.nan, gallery.picture.layers.astype(np.float64))


def take_gallery_away(opened: Opened, gallery: Gallery) -> None:
    """The menu of the gallery."""
    values = _gallery_values(gallery)
    numbers = ", ".join(f"{name} {value}" for name, value in gallery.values.items())
    what = f"{gallery.choice.name} pattern ({numbers or 'no parameters'}), {gallery.choice.source}"
    words, title, labels = caption(opened, what), _(gallery.choice.label), _labels(opened, len(values))
    is_map = gallery.index is not None
    drawn = values if is_map else np.where(values == 1, 1.0, np.nan)
    show_take_away(
        TakeAway(
            name=f"mask-{gallery.choice.name}",
            svg=lambda: map_svg(
                drawn, row_labels=labels, col_labels=labels, scale="sequential", low=0.0,
                high=max(1.0, float(np.nanmax(drawn, initial=1.0))), log=False, title=title, caption=words,
                number="plain", texts=translated(figure_svg.TEXTS),
            ),
            html=lambda lang: standalone_html(
                mask_gallery.SOURCE, gallery.payload, title=title, caption=words, lang=lang
            ),
            csv=lambda: csv_bytes(values, labels, labels, words),
            npz=lambda: npz_bytes({"values": values, "lengths": np.array(CURVE)}, words),
            snippet=gallery_snippet(opened, gallery),
        )
    )  # fmt: skip  # the map's many settings in three lines


def gallery_snippet(opened: Opened, gallery: Gallery) -> str:
    """The lines that give the large picture's numbers."""
    n_tokens = len(_gallery_values(gallery))
    if gallery.index is not None:
        settings = ", ".join(f"{name}={value}" for name, value in gallery.values.items())
        call = f"index_map({n_tokens}, {settings})"
        return f"from attention.dual_chunk import index_map\n\nfound = {call}\nvalues = found.distance"
    if gallery.picture is None:
        raise ValueError("a gallery shows a pattern or an index map")
    return (
        "from analysis.mask_picture import mask_picture\nfrom attention.patterns import BY_NAME\n\n"
        f"pattern, settings = BY_NAME[{gallery.choice.name!r}], {gallery.values!r}\n"
        f"hidden = {list(gallery.painted.hidden)!r}\n"
        f"found = mask_picture(pattern, settings, {n_tokens}, n_layers={opened.capture.n_layers}, hidden=hidden)\n"
        "values = found.layers"
    )


# -- on the model -----------------------------------------------------------------------------------------------------


def model_tables(opened: Opened, found: OnModel) -> dict[str, pd.DataFrame]:
    """The attention that was cut, and the next tokens before and after."""
    layers, heads = found.cut.shape
    names = [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)]
    tables = {_("attention cut"): pd.DataFrame(found.cut, index=names[0], columns=names[1])}
    if found.change is not None:
        tokens = [opened.runner.token_text(token) for token in found.change.ids]
        data = {_("before"): found.change.before, _("after"): found.change.after}
        tables[_("Next token")] = pd.DataFrame(data, index=tokens)
    if found.perplexities is not None:
        tables[_("perplexity of the text")] = pd.DataFrame(
            [found.perplexities], columns=[_("before"), _("after")], index=[""]
        )
    return tables


def take_model_away(opened: Opened, found: OnModel) -> None:
    """The menu of the view on the model; the page that opens offline is the map of what was cut."""
    layer, head = opened.layer, opened.head
    what = f"attention after {found.edits!r}"
    words, title = caption(opened, what), f"L{layer}H{head} · {_(found.choice.label)}"
    weights = found.after.weights(layer, head).cpu().double().numpy()
    before = opened.capture.weights(layer, head).cpu().double().numpy()
    keep = found.after.record(layer).mask.tiles(
        slice(head, head + 1), slice(0, len(weights)), slice(0, len(weights)), found.after.q(layer).device
    )
    drawn = np.where(keep.cpu().numpy().reshape(weights.shape), weights, np.nan)
    labels = _labels(opened, len(weights))
    svg_labels: Sequence[str] = labels if len(labels) <= 256 else []
    show_take_away(
        TakeAway(
            name=f"masked-L{layer}H{head}",
            svg=lambda: map_svg(
                drawn, row_labels=svg_labels, col_labels=svg_labels, scale="sequential", low=0.0, high=1.0, log=False,
                title=title, caption=words, texts=translated(figure_svg.TEXTS),
            ),
            html=lambda lang: standalone_html(
                grid_component.SOURCE, found.payload, title=title, caption=words, lang=lang
            ),
            csv=lambda: csv_bytes(drawn, labels, labels, words),
            npz=lambda: npz_bytes({"before": before, "after": weights, "cut": found.cut}, words),
            snippet=model_snippet(opened, found),
        )
    )  # fmt: skip  # the map's many settings in two lines


def model_snippet(opened: Opened, found: OnModel) -> str:
    """The lines that give the changed weights and what was cut."""
    ahead = [edit for edit in found.edits if isinstance(edit, Masked) and BY_NAME[edit.pattern].ahead]
    after_prefix = "".join(f", {max(1, dict(edit.values)['length'])}" for edit in ahead)
    names = ", ".join(dict.fromkeys(type(edit).__name__ for edit in found.edits)) or "Masked"
    return (
        python_start(opened)
        + CHANGED.format(names=names, edits=repr(found.edits))
        + f"weights = changed.weights({opened.layer}, {opened.head})\n\n"
        "from analysis.mask_effect import cut_mass, perplexity\n\n"
        "cut = cut_mass(capture, changed)\n"
        f"before, after = perplexity(capture{after_prefix}), perplexity(changed{after_prefix})"
    )


# -- sweep ------------------------------------------------------------------------------------------------------------


def sweep_table(view: SweepView) -> dict[str, pd.DataFrame]:
    """Every point of the chart."""
    rows = [f"{point.trial.pattern} {_numbers(point.trial.values)}" for point in view.points]
    return {_("perplexity of the text"): pd.DataFrame(_sweep_values(view), index=rows, columns=_sweep_columns())}


def _numbers(values: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values)


def _sweep_columns() -> list[str]:
    return [_("window of as many cells"), _("share of causal cells"), _("perplexity")]


def _sweep_values(view: SweepView) -> np.ndarray:
    rows = [[point.trial.size, point.share, point.perplexity] for point in view.points]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def take_sweep_away(opened: Opened, view: SweepView) -> None:
    """The menu of the sweep."""
    words = caption(opened, f"perplexity of the text under patterns on all layers; full attention {view.full:.6g}")
    rows = [f"{point.trial.pattern} {_numbers(point.trial.values)}" for point in view.points]
    title, columns = _("perplexity of the text"), _sweep_columns()
    figure = sweep_figure(view.points, view.full, view.n_tokens, height=520)
    show_take_away(
        TakeAway(
            name="mask-sweep",
            html=lambda lang: curves.standalone([figure], title=title, caption=words, lang=lang),
            csv=lambda: csv_bytes(_sweep_values(view), rows, columns, words),
            npz=lambda: npz_bytes({"points": _sweep_values(view), "trials": np.array(rows, dtype=np.str_)}, words),
            snippet=sweep_snippet(opened, view),
        )
    )


def sweep_snippet(opened: Opened, view: SweepView) -> str:
    """The lines that give every point of the chart."""
    trials = [(point.trial.pattern, point.trial.values) for point in view.points]
    return (
        python_start(opened) + "\nfrom dataclasses import replace\n\nfrom analysis.mask_effect import perplexity\n"
        "from model_runner.edits import Masked\n\n"
        f"trials = {trials!r}\n"
        "requests = [replace(capture.request, edits=(Masked(*trial),)) for trial in trials]\n"
        "values = [perplexity(runner.capture(request)) for request in requests]"
    )
