"""Export of the view "which heads matter": tables, files and Python code."""

from __future__ import annotations

import pandas as pd

from analysis.color_scale import change_extent
from model_runner.python_lines import python_start
from pages.edit_heads.effects import ANSWERS, Effects, agreement, meaning_of, payload_of, target_name
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from viz import figure_svg
from viz.components.layer_head_map import layer_head_map
from viz.export import map_svg


def effects_view(opened: PageContext, found: Effects) -> ExportBundle:
    """Picture and page are of the first measure, the tables of all three."""
    token = target_name(opened, found.target)
    rows, columns = _labels(found)
    lost = found.found.lost
    high = change_extent(lost)
    axes = {"row_axis": _("layers"), "column_axis": _("heads"), "masked": _("not computed")}
    return ExportBundle(
        name=f"head-effects-{found.target}",
        title=f"{_(ANSWERS[0].label)} · {token}",
        what=f"what {_measured(opened, found)} loses when a head passes on nothing",
        tables=lambda: effect_tables(opened, found),
        page=component_page(layer_head_map.SOURCE, payload_of(opened, ANSWERS[0], found)),
        picture=lambda title, words: map_svg(
            lost, row_labels=rows, col_labels=columns, scale="diverging", low=-high, high=high, log=False,
            title=title, caption=words, number="plain", texts=translated(figure_svg.TEXTS) | axes,
        ),
        arrays={answer.name: found.values(answer.name) for answer in ANSWERS} | {"ffn": found.found.ffn},
        code=effects_snippet(opened, found),
        starts_with_capture=False,
    )  # fmt: skip  # the map's many settings in two lines


def effect_tables(opened: PageContext, found: Effects) -> dict[str, pd.DataFrame]:
    """All heads with their three numbers, the three maps, and their rank correlations."""
    rows, columns = _labels(found)
    labels = {answer.name: _(answer.label) for answer in ANSWERS}
    values = {label: found.values(name).ravel() for name, label in labels.items()}
    tables = {_("all heads"): pd.DataFrame(values, index=[f"{row}{column}" for row in rows for column in columns])}
    for answer in ANSWERS:
        heading = f"{_(answer.label)}: {meaning_of(opened, answer, found.target, found.against)}"
        tables[heading] = pd.DataFrame(found.values(answer.name), index=rows, columns=columns)
    tables[_("FFN ablated")] = pd.DataFrame({_(ANSWERS[0].label): found.found.ffn}, index=rows)
    pairs = agreement(found)
    names = [f"{labels[one]} · {labels[other]}" for one, other in pairs]
    tables[_("rank correlation of the sizes, Spearman's ρ, all heads")] = pd.DataFrame(
        list(pairs.values()), index=names, columns=["ρ"]
    )
    return tables


def _measured(opened: PageContext, found: Effects) -> str:
    token = target_name(opened, found.target)
    if found.against is not None:
        return f"the logit of {token} less that of {target_name(opened, found.against)}"
    return f"the score {token}" if opened.runner.info.class_scale == "number" else f"log p of {token}, in nats,"


def _labels(found: Effects) -> tuple[list[str], list[str]]:
    layers, heads = found.found.lost.shape
    return [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)]


def effects_snippet(opened: PageContext, found: Effects) -> str:
    """Code for the three maps."""
    other = "" if found.against is None else f", {found.against}"
    return (
        python_start(opened.capture.request)
        + "\nfrom attention_atlas.analysis.head_effects import head_effects, layer_effects, ranking\n"
        "from attention_atlas.model_runner.questions import WhichHeads\n\n"
        f"target = {found.target}  # {target_name(opened, found.target)!r}\n"
        "layers = [layer for layer in range(capture.n_layers) if capture.has_weights(layer)]\n"
        f"jobs = [runner.submit(WhichHeads(capture.request, layer, target{other})) for layer in layers]\n"
        "found = head_effects([layer_effects(job.result()) for job in jobs], capture.n_layers, capture.n_heads)\n"
        "lost, pushed, written, ffn = found.lost, found.pushed, found.written, found.ffn\n"
        "most = ranking(lost, 10)"
    )
