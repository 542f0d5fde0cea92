"""Export of the page Masks: tables, files and Python code of its views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.tables import labelled
from attention.patterns import BY_NAME
from jobs.mask_sweep import MaskTrial
from model_runner.edit_words import described
from model_runner.edits import Blocked, Masked
from pages.masks.gallery import CURVE, Gallery
from pages.masks.on_model import MaskOnModel
from pages.masks.state import LABELS
from pages.masks.sweep import SweepView, sweep_chart
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.what_if import output_name
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from viz import figure_svg
from viz.chart_svg import charts_svg
from viz.components.head_grid import head_grid as grid_component
from viz.components.mask_gallery import mask_gallery
from viz.curves import standalone
from viz.export import map_svg

CHANGED = (
    "\nfrom dataclasses import replace\n\nfrom attention_atlas.model_runner.edits import {names}\n\n"
    "edits = {edits}\nchanged = runner.capture(replace(capture.request, edits=edits))\n"
)


def _labels(opened: PageContext, count: int) -> list[str]:
    return [f"{position} {token.text}" for position, token in enumerate(opened.capture.tokens[:count])]


# -- gallery ----------------------------------------------------------------------------------------------------------


def _gallery_tables(opened: PageContext, gallery: Gallery) -> dict[str, pd.DataFrame]:
    """The large picture, and the cost of long texts."""
    values = _gallery_values(gallery)
    tokens = {position: token.text for position, token in enumerate(opened.capture.tokens[: len(values)])}
    heading = _("distance at which a key seems to be") if gallery.index is not None else _(
        "layers until a key can reach a query; 1: the pattern keeps the cell"
    )  # fmt: skip
    tables = {heading: labelled(values, tokens, tokens)}
    if gallery.costs:
        rows = [f"{one.n_tokens:,}" for one, _full in gallery.costs]
        columns = [_("kept cells"), _("cells of full attention"), _("multiply-adds"), _("bytes of scores")]
        data = [[one.cells, full.cells, one.multiply_adds, one.n_bytes] for one, full in gallery.costs]
        tables[_("one text of this many tokens, by formula")] = pd.DataFrame(data, index=rows, columns=columns)
    return tables


def _gallery_values(gallery: Gallery) -> np.ndarray:
    """What the large picture shows; NaN where no information from the key reaches the query."""
    if gallery.index is not None:
        future = np.triu(np.ones(gallery.index.distance.shape, bool), 1)
        return np.where(future, np.nan, gallery.index.distance.numpy())
    if gallery.picture is None:
        raise ValueError("a gallery shows a pattern or an index map")
    return np.where(gallery.picture.layers == 0, np.nan, gallery.picture.layers.astype(np.float64))


def gallery_view(opened: PageContext, gallery: Gallery) -> ExportBundle:
    """The open picture."""
    values = _gallery_values(gallery)
    numbers = ", ".join(f"{name} {value}" for name, value in gallery.values.items())
    hidden = gallery.painted.hidden if gallery.index is None else ()
    by_hand = f", {described([Blocked(hidden)])}" if hidden else ""
    labels = _labels(opened, len(values))
    drawn = values if gallery.index is not None else np.where(values == 1, 1.0, np.nan)
    return ExportBundle(
        name=f"mask-{gallery.choice.name}",
        title=_(gallery.choice.label),
        what=f"{gallery.choice.name} pattern ({numbers or 'no parameters'}), {gallery.choice.source}{by_hand}",
        tables=lambda: _gallery_tables(opened, gallery),
        page=component_page(mask_gallery.SOURCE, gallery.payload),
        picture=lambda title, words: map_svg(
            drawn, row_labels=labels, col_labels=labels, scale="sequential", low=0.0,
            high=max(1.0, float(np.nanmax(drawn, initial=1.0))), log=False, title=title, caption=words,
            number="plain", texts=translated(figure_svg.TEXTS),
        ),
        arrays={"values": values, "lengths": np.array(CURVE)},
        code=gallery_snippet(opened, gallery),
        starts_with_capture=False,
    )  # fmt: skip  # the map's many settings in three lines


def gallery_snippet(opened: PageContext, gallery: Gallery) -> str:
    """Code for the large picture's numbers."""
    n_tokens = len(_gallery_values(gallery))
    if gallery.index is not None:
        settings = ", ".join(f"{name}={value}" for name, value in gallery.values.items())
        call = f"index_map({n_tokens}, {settings})"
        return f"from attention_atlas.attention.dual_chunk import index_map\n\nfound = {call}\nvalues = found.distance"
    if gallery.picture is None:
        raise ValueError("a gallery shows a pattern or an index map")
    sides = "" if gallery.causal else ", causal=False"
    return (
        "from attention_atlas.analysis.mask_picture import mask_picture\n"
        "from attention_atlas.attention.patterns import BY_NAME\n\n"
        f"pattern, settings = BY_NAME[{gallery.choice.name!r}], {gallery.values!r}\n"
        f"hidden = {list(gallery.painted.hidden)!r}\n"
        f"n_layers = {opened.capture.n_layers}\n"
        f"found = mask_picture(pattern, settings, {n_tokens}, n_layers=n_layers, hidden=hidden{sides})\n"
        "values = found.layers"
    )


# -- on the model -----------------------------------------------------------------------------------------------------


def _model_tables(opened: PageContext, found: MaskOnModel) -> dict[str, pd.DataFrame]:
    """The attention that was cut, and the next tokens before and after."""
    layers, heads = found.cut.shape
    names = [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)]
    tables = {_("attention cut"): pd.DataFrame(found.cut, index=names[0], columns=names[1])}
    if found.change is not None:
        tokens = [opened.runner.token_text(token) for token in found.change.ids]
        data = {_("before"): found.change.before, _("after"): found.change.after}
        tables[output_name(found.change.position)] = pd.DataFrame(data, index=tokens)
    if found.perplexities is not None:
        tables[_("perplexity of the text")] = pd.DataFrame(
            [found.perplexities], columns=[_("before"), _("after")], index=[""]
        )
    return tables


def model_view(opened: PageContext, found: MaskOnModel) -> ExportBundle:
    """The open head after the change; the standalone page is the map of what was cut."""
    layer, head = opened.layer, opened.head
    weights = found.after.weights(layer, head).cpu().double().numpy()
    before = opened.capture.weights(layer, head).cpu().double().numpy()
    keep = found.after.record(layer).mask.tiles(
        slice(head, head + 1), slice(0, len(weights)), slice(0, len(weights)), found.after.q(layer).device
    )
    drawn = np.where(keep.cpu().numpy().reshape(weights.shape), weights, np.nan)
    labels = _labels(opened, len(weights))
    svg_labels: Sequence[str] = labels if len(labels) <= 256 else []
    name = f"L{layer}H{head}"
    return ExportBundle(
        name=f"masked-{name}",
        title=f"{name} · {_(found.choice.label)}",
        what=f"attention after {described(found.edits)}; the live page: the attention cut from every head",
        tables=lambda: {f"{name} · {_('after')}": pd.DataFrame(drawn, labels, labels)} | _model_tables(opened, found),
        page=component_page(grid_component.SOURCE, found.payload),
        picture=lambda title, words: map_svg(
            drawn, row_labels=svg_labels, col_labels=svg_labels, scale="sequential", low=0.0, high=1.0, log=False,
            title=title, caption=words, texts=translated(figure_svg.TEXTS),
        ),
        arrays={"before": before, "after": weights, "cut": found.cut},
        code=model_snippet(opened, found),
    )  # fmt: skip  # the map's many settings in two lines


def model_snippet(opened: PageContext, found: MaskOnModel) -> str:
    """Code for the changed weights and what was cut."""
    masks = [edit for edit in found.edits if isinstance(edit, Masked)]
    ahead = [n_ahead for edit in masks if (n_ahead := BY_NAME[edit.pattern].n_ahead(dict(edit.values)))]
    after_prefix = "".join(f", {n_ahead}" for n_ahead in ahead)
    perplexities = f"\nbefore, after = perplexity(capture{after_prefix}), perplexity(changed{after_prefix})"
    names = ", ".join(dict.fromkeys(type(edit).__name__ for edit in found.edits)) or "Masked"
    return (
        CHANGED.format(names=names, edits=repr(found.edits))
        + f"weights = changed.weights({opened.layer}, {opened.head})\n\n"
        "from attention_atlas.analysis.mask_effect import cut_mass, perplexity\n\n"
        "cut = cut_mass(capture, changed)" + perplexities * (found.perplexities is not None)
    )


# -- sweep ------------------------------------------------------------------------------------------------------------


def _sweep_table(view: SweepView) -> dict[str, pd.DataFrame]:
    """Every point of the chart."""
    rows = [mask_trial_name(point.trial) for point in view.points]
    return {_("perplexity of the text"): pd.DataFrame(_sweep_values(view), index=rows, columns=_sweep_columns())}


def mask_trial_name(trial: MaskTrial) -> str:
    """A trial's name, such as: sinks and window · window 4, sinks 4."""
    numbers = [f"{_(LABELS[name])} {value}" for name, value in trial.values]
    return " · ".join(filter(None, [_(BY_NAME[trial.pattern].label), ", ".join(numbers)]))


def _sweep_columns() -> list[str]:
    return [_("window of as many cells"), _("share of causal cells"), _("perplexity")]


def _sweep_values(view: SweepView) -> np.ndarray:
    rows = [[point.trial.size, point.share, point.perplexity] for point in view.points]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def sweep_view(opened: PageContext, view: SweepView) -> ExportBundle:
    """Every point of the chart."""
    charts = [sweep_chart(view)]
    rows = [mask_trial_name(point.trial) for point in view.points]
    return ExportBundle(
        name="mask-sweep",
        title=_("perplexity of the text"),
        what=f"perplexity of the text under patterns on all layers; full attention {view.full:.6g}",
        tables=lambda: _sweep_table(view),
        page=lambda title, words, lang: standalone(charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(charts, title=title, caption=words),
        arrays={"points": _sweep_values(view), "trials": np.array(rows, dtype=np.str_)},
        code=sweep_snippet(opened, view),
    )


def sweep_snippet(opened: PageContext, view: SweepView) -> str:
    """Code for every point of the chart."""
    trials = [(point.trial.pattern, point.trial.values) for point in view.points]
    return (
        "\nfrom dataclasses import replace\n\nfrom attention_atlas.analysis.mask_effect import perplexity\n"
        "from attention_atlas.model_runner.edits import Masked\n\n"
        f"trials = {trials!r}\n"
        "requests = [replace(capture.request, edits=(Masked(*trial),)) for trial in trials]\n"
        "values = [perplexity(runner.capture(request)) for request in requests]"
    )
