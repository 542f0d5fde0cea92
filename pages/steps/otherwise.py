"""Other views of attention: a soft dictionary, weights typed by hand, exchanged matrices, and low rank."""

from __future__ import annotations

import math
from functools import partial
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.added_positions import head_reads
from analysis.attention_otherwise import Matrices, diagonal_wins, exchanged_scores, look_up, low_rank
from analysis.joined import n_looked_at
from analysis.number_text import figure_number, significant
from model_runner.projection_questions import HeadProjections, LayerMatrices
from pages.steps.state import TYPED, Otherwise, StepsState, state
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import key_name, query_name, show_finding
from ui.shared.number_map import NumberMap, show_number_map
from ui.shell.components import show_heading
from ui.shell.fragment_first import rerun_fragment
from ui.shell.page import PageContext, asked
from ui.shell.progressive import show_chart
from ui.state import session
from ui.state.controls import choose, steps
from ui.state.inputs import on_change, widget_key
from ui.state.page_state import change
from ui.state.url_values import options_of
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.chart import Bars, Line, Lines
from viz.chart_svg import charts_svg
from viz.components.layer_head_map import layer_head_map
from viz.curves import standalone
from viz.markdown import plain
from viz.matrices_svg import matrices_svg

N_ = str  # marks a text for Babel without translating it here

MOST = 16  # tokens in view
ROW = 26  # px of a bar


def show_otherwise(opened: PageContext, query: int) -> ExportBundle | None:
    """Show the chosen one; None if the typed weights are invalid. Raises RunnerError."""
    held = state()
    with st.container(key="steps_knobs", horizontal=True, vertical_alignment="center", gap="small"):
        shown: dict[Otherwise, str] = {
            "dictionary": _("soft dictionary"),
            "typed": _("weights by hand"),
            "matrices": _("matrices exchanged"),
            "rank": _("low rank"),
        }
        choose(StepsState, "otherwise", held.otherwise, shown)
        if held.otherwise == "matrices":
            each: dict[Matrices, str] = {"own": "W_Q, W_K", "same": "W_Q = W_K", "none": _("no W at all")}
            choose(StepsState, "matrices", held.matrices, each)
    if held.otherwise == "typed":
        return _typed()
    if held.otherwise == "matrices":
        return _exchanged(opened, query)
    return _rank(opened) if held.otherwise == "rank" else _dictionary(opened, query)


def _shown(count: int, query: int) -> range:
    """A part of a long text around the query."""
    start = min(max(0, query - MOST // 2), max(0, count - MOST))
    return range(start, min(count, start + MOST))


# -- the soft dictionary ----------------------------------------------------------------------------------------------


def _dictionary(opened: PageContext, query: int) -> ExportBundle:
    """The open head's row at another temperature."""
    capture, layer, head = opened.capture, opened.layer, opened.head
    softness = state().softness
    found = look_up(capture, layer, head, query, math.inf if softness == "inf" else float(softness))
    named = {"0": _("0: one entry"), "1": _("1: the model’s own"), "inf": _("∞: the average")}
    words = _("temperature of the look-up")
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    steps(StepsState, "softness", softness, {one: named.get(one, one) for one in options_of(StepsState, "softness")})
    who, best = query_name(capture, query), key_name(capture, found.best)
    if softness == "0":
        said = _("{query} takes only the value of {key}").format(query=who, key=best)
    elif softness == "inf":
        said = _("{query} takes the average of all {count} values").format(
            query=who, count=int((found.weights > 0).sum())
        )
    else:
        said = _("{query} takes {share} of {key}’s value, the rest of others")
        said = said.format(query=who, key=best, share=escape(number(float(found.weights[found.best]), "share")))
    show_finding(said, escape(_("L{layer}H{head}’s own scores").format(layer=layer, head=head)))
    order = [int(key) for key in np.argsort(-found.weights, kind="stable")[:MOST]]
    keys = sorted(order) if len(found.weights) > MOST else range(n_looked_at(capture))
    labels = [f"{key} {capture.tokens[key].text}" for key in keys]
    chart = Bars(
        labels=labels,
        values=[float(found.weights[key]) for key in keys],
        words=[number(float(found.weights[key]), "share") for key in keys],
        colors=[1 if key == found.best else 0 for key in keys],
        height=30 + ROW * len(labels),
        heading=_("weight of each value"),
        longest=1.0,
    )
    show_chart(chart, key="otherwise_dictionary", alt=chart.heading, still=True)
    table = pd.DataFrame(
        {chart.heading: found.weights}, [f"{key} {one.text}" for key, one in enumerate(capture.tokens)]
    )
    return _of_charts(
        (chart,), f"dictionary-L{layer}H{head}", _("soft dictionary"), {chart.heading: table},
        f"one row of the head at temperature {softness}",
        "\nfrom attention_atlas.analysis.attention_otherwise import look_up\n\n"
        f"found = look_up(capture, {layer}, {head}, {query}, float('{softness}'))\nweights = found.weights",
    )  # fmt: skip  # its lines of Python in two lines


def _of_charts(
    charts: tuple[Bars | Lines, ...], name: str, title: str, tables: dict[str, pd.DataFrame], what: str, code: str,
    *, of_text: bool = True,
) -> ExportBundle:  # fmt: skip  # its arguments in two lines
    return ExportBundle(
        name=name,
        title=title,
        what=what,
        of_text=of_text,
        tables=lambda: tables,
        page=lambda heading, words, lang: standalone(charts, title=heading, caption=words, lang=lang),
        picture=lambda heading, words: charts_svg(charts, title=heading, caption=words),
        code=code,
        starts_with_capture=of_text,
    )


# -- weights typed by hand --------------------------------------------------------------------------------------------


def numbers_typed(written: str) -> list[float] | None:
    """Parse numbers separated by commas or spaces; None if anything else is present."""
    try:
        found = [float(part) for part in written.replace("，", " ").replace(",", " ").split()]
    except ValueError:
        return None
    return found if found and all(math.isfinite(one) for one in found) else None


def _typed() -> ExportBundle | None:
    """Two rows of numbers and their weighted sum; None, with a message, if they cannot be weights."""
    held = state()
    for name, label, column in zip(
        ("weights", "values"), (_("weights, with commas between"), _("values, as many")), st.columns(2), strict=True
    ):
        with column:
            value = getattr(held, name)
            key = widget_key(f"steps.{name}", value)
            st.text_input(
                label, value, key=key, max_chars=TYPED, on_change=on_change(key, partial(_keep, name)),
            )  # fmt: skip  # what is typed in a line
    weights, values = numbers_typed(held.weights), numbers_typed(held.values)
    problem = _wrong(weights, values)
    if problem or weights is None or values is None:
        st.info(plain(problem))
        return None
    total = math.fsum(weights)
    if abs(total - 1) > 1e-9:
        words = _("These weights sum to {total}, not 1: each was divided by that.")
        st.info(plain(words.format(total=significant(total, 6))))
        weights = [one / total for one in weights]
    return _of_mixture(weights, values)


def _keep(name: str, typed: str) -> None:
    change(StepsState, **{name: typed.strip()})


def _wrong(weights: list[float] | None, values: list[float] | None) -> str:
    if weights is None or values is None:
        return _("Numbers with commas between are needed, as 0.2, 0.1, 0.5, 0.2.")
    if len(weights) != len(values):
        return _("{weights} weights for {values} values: there must be as many.").format(
            weights=len(weights), values=len(values)
        )
    if min(weights) < 0 or math.fsum(weights) <= 0:
        return _("A weight is a share of the whole: none is below 0, and not all are 0.")
    return ""


def _of_mixture(weights: list[float], values: list[float]) -> ExportBundle:
    mixture = math.fsum(w * v for w, v in zip(weights, values, strict=True))
    chart = Bars(
        labels=[f"v{place} = {value:g}" for place, value in enumerate(values)],
        values=weights,
        words=[f"{significant(w, 4)} · {v:g} = {significant(w * v, 4)}" for w, v in zip(weights, values, strict=True)],
        height=30 + ROW * len(weights),
        heading=_("weights"),
        longest=1.0,
    )
    terms = " + ".join(f"{significant(w, 4)} · {v:g}" for w, v in zip(weights, values, strict=True))
    terms = terms if len(terms) < 120 else "Σ w · v"
    show_finding(escape(f"{terms} = {significant(mixture, 6)}"), escape(_("numbers typed by hand, not the model’s")))
    show_chart(chart, key="otherwise_typed", alt=chart.heading, still=True)
    table = pd.DataFrame({_("weights"): weights, _("values"): values}, [f"v{place}" for place in range(len(weights))])
    return _of_charts(
        (chart,), "mixture", _("weights by hand"), {_("weights by hand"): table}, "a mixture of typed values",
        f"import torch\n\nweights = torch.tensor({weights!r}, dtype=torch.float64)\n"
        f"values = torch.tensor({values!r}, dtype=torch.float64)\nmixture = weights @ values",
        of_text=False,
    )  # fmt: skip  # its lines of Python in two lines


# -- matrices exchanged -----------------------------------------------------------------------------------------------


def _exchanged(opened: PageContext, query: int) -> ExportBundle:
    """Scores and weights between all tokens, and s_ij beside s_ji. Raises NotSeparable, OneStackOnly."""
    capture, layer, head, which = opened.capture, opened.layer, opened.head, state().matrices
    shown = _shown(len(capture.tokens), query)
    found = asked(opened, HeadProjections(capture.request, layer, head, tuple(shown)))
    scores = exchanged_scores(head_reads(found, shown, capture.record(layer).scale), which)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    labels, axes = [f"{at} {capture.tokens[at].text}" for at in shown], (_("queries"), _("keys"))
    most = float(np.abs(scores).max()) or 1.0
    maps = (
        NumberMap(_("scores"), scores, labels, labels, most, axes=axes),
        NumberMap(_("weights, all to all"), weights, labels, labels, 1.0, share=True, axes=axes),
    )
    i = query - shown.start
    key = opened.key if opened.key is not None and opened.key in shown else shown.start + int(scores[i].argmax())
    j = key - shown.start
    a, b = query_name(capture, query), key_name(capture, key)
    said = _("{a} → {b} {one}, {b} → {a} {other}").format(
        a=a, b=b, one=figure_number(float(scores[i, j])), other=figure_number(float(scores[j, i]))
    )
    wins = _("a token’s own score is the largest in {count} of {total} rows").format(
        count=diagonal_wins(scores), total=len(labels)
    )
    symmetric = _("not symmetric") if which == "own" else _("symmetric")
    show_finding(said, escape(f"L{layer}H{head} · {symmetric} · {wins}"), of_several=True)
    payloads: dict[str, bytes] = {}
    for one, column in zip(maps, st.columns(2, gap="medium"), strict=True):
        with column:
            show_heading(escape(one.title))
            payloads[one.title] = show_number_map(
                one, (i, j), key=f"exchanged_{len(payloads)}", pick=partial(_open, shown.start), max_height=430
            )
    return ExportBundle(
        name=f"matrices-L{layer}H{head}-{which}",
        title=_("matrices exchanged"),
        what=f"scores of all to all with {which} matrices; no mask, no rotation, no bias",
        tables=lambda: {one.title: one.table() for one in maps},
        page=component_page(layer_head_map.SOURCE, payloads),
        picture=lambda title, words: matrices_svg([one.matrix() for one in maps], title=title, caption=words),
        arrays={"scores": scores, "weights": weights},
        code="\nfrom attention_atlas.analysis.added_positions import head_reads\n"
        "from attention_atlas.analysis.attention_otherwise import exchanged_scores\n"
        "from attention_atlas.model_runner.projection_questions import HeadProjections\n\n"
        f"places = range({shown.start}, {shown.stop})\n"
        f"found = runner.submit(HeadProjections(capture.request, {layer}, {head}, tuple(places))).result()\n"
        f"reads = head_reads(found, places, {capture.record(layer).scale!r})\n"
        f"scores = exchanged_scores(reads, {which!r})",
    )


def _open(first: int, row: int, column: int) -> None:
    session.move(query=first + row, key=first + column)
    rerun_fragment("steps")


# -- low rank ---------------------------------------------------------------------------------------------------------


def _rank(opened: PageContext) -> ExportBundle:
    """The singular values of both matrix products of the open head. Raises NotSeparable, OneStackOnly."""
    capture, layer, head = opened.capture, opened.layer, opened.head
    found = asked(opened, LayerMatrices(capture.request, layer))
    kv_head = head // capture.record(layer).group
    shown = low_rank(found, head, kv_head)
    rows = {"W_Q W_Kᵀ": shown.qk} | ({} if shown.ov is None else {"W_V W_O": shown.ov})
    said = _("L{layer}H{head}: W_Q W_Kᵀ is {d} × {d}, but its rank is at most {rank}")
    said = said.format(layer=layer, head=head, d=shown.d_model, rank=len(shown.qk))
    parts = [
        _("{name}: 90 % of its squares in {count} of {total} directions").format(
            name=name, count=shown.needed(values), total=len(values)
        )
        for name, values in rows.items()
    ]
    show_finding(escape(said), escape(" · ".join(parts)))
    series = [
        Line(name, [float(place) for place in range(1, len(values) + 1)], values.tolist(), points=True)
        for name, values in rows.items()
    ]
    chart = Lines(
        series=series, x_title=_("singular value by rank"), y_title=_("size"), height=400,
        heading=_("Singular values of the head’s two products"),
    )  # fmt: skip  # its words in two lines
    show_chart(chart, key="steps_rank", alt=chart.heading, still=True)
    tables = {
        name: pd.DataFrame({_("size"): values}, [str(place) for place in range(1, len(values) + 1)])
        for name, values in rows.items()
    }
    return _of_charts(
        (chart,), f"low-rank-L{layer}H{head}", _("low rank"), tables, "singular values of W_Q W_Kᵀ and W_V W_O",
        "\nfrom attention_atlas.analysis.attention_otherwise import low_rank\n"
        "from attention_atlas.model_runner.projection_questions import LayerMatrices\n\n"
        f"found = runner.submit(LayerMatrices(capture.request, {layer})).result()\n"
        f"shown = low_rank(found, {head}, {kv_head})\nqk, ov = shown.qk, shown.ov",
    )  # fmt: skip  # its lines of Python in two lines
