"""Export of the page Zoo: tables, files and Python code of its views."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.tables import map_table, side_by_side
from analysis.zoo import Compared
from pages.zoo.by_formula import LENGTHS, Costs
from pages.zoo.cost import chart_of, tables_of
from pages.zoo.latent import kept_here
from pages.zoo.maps import DIFFERENT, Rival, ZooMaps, head_view
from pages.zoo.numbers import ROWS
from ui.shared.export_bundle import ExportBundle, component_page
from ui.wording.i18n import _
from viz.chart_svg import charts_svg
from viz.components.head_map import head_map as map_component
from viz.curves import standalone
from viz.drawn_maps_svg import drawn_maps_svg


def maps_view(maps: ZooMaps) -> ExportBundle:
    """The maps side by side, as far as the variants apply to the head, and further files by name."""
    first, shown = maps.first, maps.payloads
    rivals = _rivals(maps) or [first]
    name = f"L{maps.opened.layer}H{maps.opened.head}"
    return ExportBundle(
        name=f"zoo-{first.variant.name}-{name}",
        title=" · ".join([name, *dict.fromkeys(_(one.variant.label) for one in rivals)]),
        what="; ".join(f"{_described(one)}; {one.variant.source}" for one in rivals),
        tables=lambda: _tables(maps),
        rows=lambda: side_by_side(_tables(maps), shown),
        page=component_page(map_component.SOURCE, shown),
        picture=lambda title, words: drawn_maps_svg(shown, title=title, caption=words),
        arrays=lambda: _arrays(maps),
        code=_maps_code(maps),
    )


def _rivals(maps: ZooMaps) -> list[Rival]:
    return [one for one in (maps.first, maps.second) if one is not None and one.found is not None]


def _described(rival: Rival) -> str:
    numbers = ", ".join(f"{name} {value}" for name, value in rival.values.items())
    return f"{rival.variant.name} ({numbers or 'no parameters'}) in the place of softmax, substituted, not trained"


def _named(maps: ZooMaps) -> dict[str, Compared]:
    """The variants in view, then softmax."""
    found = {_(one.variant.label): one.found for one in _rivals(maps) if one.found is not None}
    return found | {"softmax": maps.own}


def _tables(maps: ZooMaps) -> dict[str, pd.DataFrame]:
    named = _named(maps)
    tables = {
        name: map_table(head_view(maps.opened, one.weights, maps.view.window, maps.start))
        for name, one in named.items()
    }
    for rival in _rivals(maps):
        if rival.found is not None:
            heading = f"{_(rival.variant.label)} · {_(DIFFERENT)}"
            tables[heading] = map_table(head_view(maps.opened, rival.found.difference, maps.view.window, maps.start))
    data = [[float(getattr(one, row)) for one in named.values()] for row in ROWS]
    tables[_("Numbers")] = pd.DataFrame(data, index=[_(label) for label in ROWS.values()], columns=list(named))
    for rival in (one for one in _rivals(maps) if one.variant.name == "mla"):
        rows = kept_here(maps.opened, rival.values["rank"])
        data = [[one.numbers, one.n_bytes] for one in rows]
        names = [_("numbers"), _("bytes")]
        tables[_("kept per token")] = pd.DataFrame(data, index=[one.name for one in rows], columns=names)
    return tables


def _arrays(maps: ZooMaps) -> dict[str, np.ndarray]:
    """Whole maps and outputs, whatever the window in view."""
    arrays = {"softmax": maps.own.weights, "softmax_output": maps.own.output}
    for place, rival in zip(("first", "second"), (maps.first, maps.second), strict=True):
        if rival is not None and rival.found is not None:
            arrays |= {
                place: rival.found.weights,
                f"{place}_output": rival.found.output,
                f"{place}_difference": rival.found.difference,
            }
    return arrays


def _maps_code(maps: ZooMaps) -> str:
    lines = [
        "",
        "from attention_atlas.analysis.zoo import captured_head, own, substituted",
        "from attention_atlas.attention.zoo.table import BY_NAME",
        "",
        f"head = captured_head(capture, {maps.opened.layer}, {maps.opened.head}, {maps.start})",
        "softmax = own(head)",
    ]
    for place, rival in zip(("first", "second"), (maps.first, maps.second), strict=True):
        if rival is not None and rival.found is not None:
            lines.append(f'{place} = substituted(head, BY_NAME["{rival.variant.name}"], {rival.values})')
            lines.append(f"values, error = {place}.weights, {place}.error")
    return "\n".join(lines)


def cost_view(found: Costs) -> ExportBundle:
    """Every line of the chart."""
    chart, tables = chart_of(found), tables_of(found)
    title = _("What it would cost")
    shape, names = found.shape, [variant.name for variant, _values in found.variants]
    return ExportBundle(
        name="zoo-cost",
        title=title,
        what=f"multiply-adds of {shape.n_layers} layers of {shape.n_heads} heads by formula: {', '.join(names)}",
        tables=lambda: tables,
        page=lambda title, words, lang: standalone([chart], title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg([chart], title=title, caption=words),
        arrays={"lengths": np.array(LENGTHS)},
        code=_cost_code(found),
        starts_with_capture=False,
    )


def _cost_code(found: Costs) -> str:
    shape = found.shape
    lines = ["from attention_atlas.attention.zoo.table import BY_NAME", "", f"lengths = {LENGTHS}", "costs = {}"]
    for variant, values in found.variants:
        per = {one.name: one.per for one in variant.parameters}
        numbers = {name: value / per[name] if per[name] > 1 else value for name, value in values.items()}
        work = f'BY_NAME["{variant.name}"].multiply_adds(n, {shape.d_head}, **{numbers})'
        lines.append(f'costs["{variant.name}"] = [{shape.n_layers} * {shape.n_heads} * {work} for n in lengths]')
    return "\n".join(lines)
