"""Export of the page Compare: tables, files and Python code of its views."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.aligned_heads import AlignedHeads
from analysis.alignment import Piece
from analysis.joined import Joined
from analysis.matrix_change import MatrixChange
from analysis.number_text import significant
from analysis.tables import side_by_side
from model_runner.python_lines import request_line, runner_line
from pages.compare.maps import ComparedMaps
from pages.compare.matrices import bars, matrix_table
from pages.compare.names import names_of
from pages.compare.numbers import SHOWN, MetricPair, Predictions, metrics_html, metrics_title, next_html
from pages.compare.state import state
from pages.compare.tokens import Cuts, counts_table, strips
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shell.page import PageContext
from ui.wording.i18n import _
from ui.wording.provenance import joining
from viz.aligned_tokens import aligned_svg
from viz.chart import Bars
from viz.chart_svg import charts_svg
from viz.components.head_map import head_map as map_component
from viz.curves import standalone
from viz.drawn_maps_svg import drawn_maps_svg
from viz.plain_page import plain_page

ROW = 24  # px of a bar in a file


def maps_view(opened: PageContext, other: PageContext, maps: ComparedMaps) -> ExportBundle:
    """The three maps side by side, or two if there is no difference."""
    view, (a, b) = maps.view, _names(opened, other)
    drawn = {name: drawn for name, drawn in zip((a, b, "A − B"), maps.payloads, strict=True) if drawn is not None}
    sides = {name: side for side, name in enumerate((a, b, "A − B")) if name in drawn}
    shown = sorted(sides, key=lambda name: sides[name] != 2)  # the difference first
    return ExportBundle(
        name=f"compare-{_both(opened, other)}",
        title=_title(opened, other),
        what=f"weights after softmax{_mean()}, A minus B, on common pieces of the text; {_sides(opened, other)}",
        tables=lambda: {name: _table(view, sides[name]) for name in shown},
        rows=lambda: side_by_side({name: _table(view, side, of_both=True) for name, side in sides.items()}, drawn),
        page=component_page(map_component.SOURCE, drawn),
        picture=lambda title, words: drawn_maps_svg(drawn, title=title, caption=words),
        arrays={
            "difference": view.difference.values, "a": view.first.values, "b": view.second.values,
            "elsewhere": np.array(view.elsewhere),
        },
        code=_other_lines(opened, other) + "\n".join([
            "from attention_atlas.analysis.aligned_heads import aligned_heads",
            "",
            f"view = aligned_heads(capture, {_head(opened)}, other, {_head(other)})",
            "values, a, b = view.difference.values, view.first.values, view.second.values",
        ]),
    )  # fmt: skip  # the map's many settings in two lines


def metrics_view(opened: PageContext, other: PageContext, found: tuple[MetricPair, ...]) -> ExportBundle:
    """Every metric of both heads."""
    names = _names(opened, other)
    title, body = metrics_title(), metrics_html(found, *names_of(opened, other, layers=state().layers))
    rows = {_(one.metric.label): [one.first, one.second, one.first - one.second] for one in found}
    table = pd.DataFrame(rows.values(), index=list(rows), columns=[*names, "A − B"])
    charts = [
        _bars({_(one.metric.label): (one.first, one.second) for one in found if one.metric.unit == unit}, unit)
        for unit in dict.fromkeys(one.metric.unit for one in found)
    ]
    code = [
        "from attention_atlas.analysis.head_grid import head_grid",
        "",
        "a, b = head_grid(capture).metrics, head_grid(other).metrics",
    ]
    if state().layers:
        code.insert(0, "import numpy as np")
        code += [
            f"one, two = {opened.layer}, {other.layer}",
            "values = {name: (np.nanmean(a[name][one]), np.nanmean(b[name][two])) for name in a}",
        ]
    else:
        code += [
            f"one, two = {(opened.layer, opened.head)}, {(other.layer, other.head)}",
            "values = {name: (a[name][one], b[name][two]) for name in a}",
        ]
    return ExportBundle(
        name=f"compare-metrics-{_both(opened, other)}",
        title=f"{title} · {_title(opened, other)}",
        what=f"metrics, means over the tokens that look{_mean()}; {_sides(opened, other)}",
        tables=lambda: {title: table},
        page=lambda title, words, lang: plain_page(body, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(charts, title=title, caption=words),
        code=_other_lines(opened, other) + "\n".join(code),
    )


def next_view(opened: PageContext, other: PageContext, found: Predictions) -> ExportBundle:
    """Both predictions."""
    names, pair = names_of(opened, other, heads=False), found.pair
    title, body = _("What both predict"), next_html(found, *names)
    columns = [f"A · {names[0]}", f"B · {names[1]}"]
    table = pd.DataFrame(
        zip(pair.first, pair.second, strict=True), index=list(pair.labels), columns=columns, dtype=float
    )
    chart = _bars(dict(zip(pair.labels, zip(pair.first, pair.second, strict=True), strict=True)), "")
    positions = ", ".join("-1" if place is None else str(place) for place in found.places)
    code = [
        "from attention_atlas.analysis.next_pair import next_pair",
        "",
        "words = tuple([one.token_text(i) for i in range(one.info.n_vocab)] for one in (runner, other_runner))",
        f"pair = next_pair((capture, other), ({positions}), words, count={SHOWN})",
    ]
    return ExportBundle(
        name="compare-next-token",
        title=f"{title} · {_title(opened, other)}",
        what=f"probabilities of the same tokens; {_sides(opened, other, heads=False)}",
        tables=lambda: {title: table},
        page=lambda title, words, lang: plain_page(body, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg([chart], title=title, caption=words),
        arrays={} if pair.kl is None else {"kl": np.array(pair.kl)},
        code=_other_lines(opened, other) + "\n".join(code),
    )


def matrices_view(opened: PageContext, other: PageContext, found: tuple[MatrixChange, ...]) -> ExportBundle:
    """The norms of every head's matrices."""
    table, charts = matrix_table(found), [bars(one, found) for one in found]
    code = [
        "from attention_atlas.analysis.matrix_change import matrix_changes",
        "from attention_atlas.model_runner.projection_questions import LayerMatrices",
        "",
        f"a = runner.submit(LayerMatrices(capture.request, {opened.layer})).result()",
        f"b = other_runner.submit(LayerMatrices(other.request, {other.layer})).result()",
        "values = {one.name: one.share for one in matrix_changes(a, b)}",
    ]
    return ExportBundle(
        name="compare-matrices",
        title=f"‖ΔW‖ · {_title(opened, other)}",
        what=f"norms of A's matrices minus B's, and of B's; {_sides(opened, other, heads=False)}",
        tables=lambda: {"‖ΔW‖": table},
        page=lambda title, words, lang: standalone(charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(charts, title=title, caption=words),
        arrays={one.name: one.share for one in found},
        code=_other_lines(opened, other) + "\n".join(code),
    )


def tokens_view(opened: PageContext, other: PageContext, found: Cuts) -> ExportBundle:
    """Both tokenizations."""
    title, body = _("The text as tokens"), strips(found)
    return ExportBundle(
        name="compare-tokens",
        title=f"{title} · {' · '.join(found.names)}",
        what=f"tokens over the characters they stand for; {_sides(opened, other, heads=False)}",
        tables=lambda: {title: counts_table(found)},
        page=lambda title, words, lang: plain_page(body, title=title, caption=words, lang=lang),
        picture=lambda title, words: aligned_svg(found.blocks, names=("A", "B"), title=title, caption=words),
        code=_other_lines(opened, other) + "\n".join([
            "from attention_atlas.analysis.aligned_heads import sides_of",
            "from attention_atlas.analysis.alignment import aligned",
            "",
            "pieces = aligned(*sides_of(capture, other))",
        ]),
    )  # fmt: skip


def _both(opened: PageContext, other: PageContext) -> str:
    return "-".join(f"L{side.layer}" + ("" if state().layers else f"H{side.head}") for side in (opened, other))


def _head(side: PageContext) -> tuple[int, int | None]:
    return side.layer, None if state().layers else side.head


def _mean() -> str:
    return ", the mean of all heads of a layer" if state().layers else ""


def _title(opened: PageContext, other: PageContext) -> str:
    return " − ".join(_names(opened, other))


def _names(opened: PageContext, other: PageContext) -> tuple[str, str]:
    first, second = names_of(opened, other, layers=state().layers)
    return f"A · {first}", f"B · {second}"


def _sides(opened: PageContext, other: PageContext, *, heads: bool = True) -> str:
    """Describe B for a file, whose caption already describes A. ``heads`` False: compare whole models."""
    unchanged = "the unchanged " if opened.capture.request.edits else ""
    text = " ".join(other.capture.request.text.split())[:200]
    place = f"L{other.layer}" + ("" if state().layers else f"H{other.head}") + " of " if heads else ""
    return f"B is {place}{unchanged}{other.runner.info.name} on “{text}”"


def _table(view: AlignedHeads, side: int, *, of_both: bool = False) -> pd.DataFrame:
    """A map labelled by the token numbers of its own side, as in the chips; rows ``of_both`` by those of A and B."""
    one = view.maps[side]
    pieces = [view.pieces[place] for place in one.places]
    own = [_numbers(piece.of(side % 2)) for piece in pieces]
    rows = [_of_both(piece) for piece in pieces] if of_both else own
    index, columns = ([f"{at} {label}" for at, label in zip(given, one.labels, strict=True)] for given in (rows, own))
    return pd.DataFrame(one.values, index=index, columns=columns)


def _of_both(piece: Piece) -> str:
    if piece.a == piece.b:
        return _numbers(piece.a)
    return " ".join(f"{name}{_numbers(run)}" for name, run in (("A", piece.a), ("B", piece.b)) if run is not None)


def _numbers(run: range | None) -> str:
    return "" if run is None else f"{run[0]}" if len(run) == 1 else f"{run[0]}–{run[-1]}"


def _bars(rows: dict[str, tuple[float | None, float | None]], unit: str) -> Bars:
    """Two bars per row, A above B."""
    known = [
        (f"{label} · {side}", value, number)
        for label, values in rows.items()
        for number, (side, value) in enumerate(zip("AB", values, strict=True))
    ]
    values = [None if value is None or np.isnan(value) else value for _label, value, _number in known]
    words = ["–" if value is None else significant(value, 3) for value in values]
    labels, colors = [label for label, _value, _number in known], [number for _label, _value, number in known]
    heading = {"share": _("share of attention"), "bits": _("bits"), "tokens": _("tokens")}.get(unit, _("probability"))
    return Bars(labels=labels, values=values, words=words, colors=colors, height=ROW * len(known), heading=heading)


def _other_lines(opened: PageContext, other: PageContext) -> str:
    """The code that makes B's capture, which precedes A's."""
    request = other.capture.request
    name = "other_runner"
    load = f"{name} = runner" if other.runner is opened.runner else runner_line(request, name)
    lines = f"\n{load}\nother = {name}.capture({request_line(request)})\n"
    return lines + joining("other") * isinstance(other.capture, Joined)
