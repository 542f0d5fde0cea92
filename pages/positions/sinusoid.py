"""Sinusoidal positions: their table for the text's words, and a shift as a rotation of each pair."""

from __future__ import annotations

import math
from functools import partial
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis import sinusoid
from analysis.number_text import error_size, figure_number
from analysis.positions import Turned
from model_runner.capture import Capture
from pages.positions.places import titled
from pages.positions.state import PositionsState, pin, pinned, place, put, state, widen
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import query_name, show_finding
from ui.shared.number_map import NumberMap, show_number_map
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.shell.progressive import show_chart
from ui.state import session
from ui.state.page_state import change, refuse
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.components.layer_head_map import layer_head_map
from viz.components.rotation import rotation
from viz.export import map_svg
from viz.position_svg import dials_svg

N_ = str  # marks a text for Babel without translating it here

ROWS = 48  # tokens that the table shows at a time
STEP = 1  # the shift that is shown first

TURN_TEXTS = rotation.TEXTS | {
    "summary": N_("{token} turned by {position} steps, p(0) beside it: {count} pairs; the fastest has turned by "
                  "{fast}, the slowest by {slow}."),
    "position": N_("steps Δ"),
    "range": N_("steps that the slider reaches"),
    "hint": N_("Each dial is a (cos, sin) pair, fastest first: blue {token}, red p(0). Faint as they are, strong once "
               "turned by Δ · ω, by the same angle."),
    "pair": N_("Pair {i}, dimensions {a} and {b}: Δ · ω = {position} × {theta} = {angle} rad, {turns} turns. "
               "One turn takes {wavelength} tokens."),
    "equal": N_("Turned, every pair is where the formula has it Δ steps further on: largest difference {difference}."),
    "beyond": N_("Δ = {position} is beyond the {context} positions of this model; the formula still applies."),
    "here": N_("Δ = {position}"),
}  # fmt: skip  # a text a line


def rows_shown(capture: Capture, query: int, most: int) -> range:
    """The positions of a part of the text around the query; all of a short text."""
    count = len(capture.tokens)
    start = min(max(0, query - most // 2), max(0, count - most))
    return range(start, min(count, start + most))


def names(capture: Capture, shown: range) -> list[str]:
    """Tokens with their positions, which distinguish repeated ones."""
    return [f"{at} {capture.tokens[at].text}" for at in shown]


def note_cut(capture: Capture, shown: range) -> None:
    """Say which tokens are shown if not all are."""
    if len(shown) < len(capture.tokens):
        words = _("Showing tokens {first} to {last} of {total}; another token of the text moves the window.")
        said = words.format(first=shown[0], last=shown[-1], total=f"{len(capture.tokens):,}")
        st.html(f"<p class='atlas-caption'>{escape(said)}</p>")


# -- the table --------------------------------------------------------------------------------------------------------


def show_table(opened: PageContext, layout: Turned | None, query: int) -> ExportBundle:
    """PE(pos, i) for the text's words, and the wavelengths of its columns."""
    size, dim = int(state().size), _dimension()
    shown = rows_shown(opened.capture, query, ROWS)
    values = sinusoid.table(shown, size)
    table = NumberMap(
        title="PE(pos, i)",
        values=values,
        rows=names(opened.capture, shown),
        columns=[str(i) for i in range(size)],
        most=1.0,
        axes=(_("positions"), _("dimensions")),
        texts={"cell": _("{row}, dimension {column}: {value}")},
    )
    show_finding(_cell_words(opened.capture, query, dim, size), escape(_("a formula, not this model’s numbers")))
    left, right = st.columns([0.64, 0.36], gap="medium")
    with left:
        payload = show_number_map(
            table, (query - shown.start, dim), key="sinusoid_table", pick=partial(_open, shown.start), max_height=520
        )
        note_cut(opened.capture, shown)
    chart = _waves(layout, size, dim)
    with right:
        st.html(f"<p class='atlas-caption'>{escape(_waves_words(size))}</p>")
        show_chart(chart, key="sinusoid_waves", alt=chart.y_title, still=True)
    title = titled(opened, _("sinusoidal"))
    waves = pd.DataFrame(
        {_("tokens of a full turn"): sinusoid.wavelengths(size)},
        index=[f"{2 * i}, {2 * i + 1}" for i in range(size // 2)],
    )
    return ExportBundle(
        name=f"positions-sinusoidal-{size}",
        title=title,
        what=f"sinusoidal positions of {size} dimensions by their formula, not the model's, at the tokens of the text",
        tables=lambda: {"PE(pos, i)": table.table(), _("Wavelengths"): waves},
        page=component_page(layer_head_map.SOURCE, payload),
        picture=lambda title, words: map_svg(
            values, row_labels=table.rows, col_labels=table.columns, scale="diverging", low=-1.0, high=1.0, log=False,
            title=title, caption=words, number="plain", texts={"row_axis": "pos", "column_axis": "i"},
        ),
        arrays={"positions": values},
        code="\nimport math\n\nimport torch\n\n"
        "from attention_atlas.attention.position_biases import sinusoidal\n\n"
        f"positions = sinusoidal(torch.arange({shown.start}, {shown.stop}), {size})\n"
        f"wavelengths = [2 * math.pi * 10000 ** (2 * i / {size}) for i in range({size // 2})]",
    )  # fmt: skip  # the map's many settings in two lines


def _dimension() -> int:
    """The open column; one that this size lacks is reported and dropped."""
    held, size = state().dim, int(state().size)
    if held >= size:
        words = _("There are {size} dimensions, numbered from 0: there is no dimension {dim}.")
        refuse(PositionsState, "dim", words.format(size=size, dim=held))
        return 0
    return held


def _open(first: int, row: int, column: int) -> None:
    session.move(query=first + row, key=None)
    change(PositionsState, dim=column)


def _cell_words(capture: Capture, query: int, dim: int, size: int) -> str:
    """A cell in words, such as: “dog” at position 2, dimension 5: cos(2 ÷ 10000^(4/16)) = 0.98; HTML."""
    wave = "cos" if dim % 2 else "sin"
    value = float(sinusoid.table(range(query, query + 1), size)[0, dim])
    formula = f"{wave}({query} ÷ 10000^({dim - dim % 2}/{size})) = {figure_number(value)}"
    words = _("{token} at position {position}, dimension {dim}: {formula}")
    return words.format(token=query_name(capture, query), position=query, dim=dim, formula=formula)


def _waves_words(size: int) -> str:
    longest = float(sinusoid.wavelengths(size)[-1])
    words = _(
        "Waves from 2π ≈ 6.28 tokens to 2π · 10000^({last}/{size}) ≈ {longest}; with more dimensions the last one "
        "comes near 20000π ≈ 62,832."
    )
    return words.format(last=size - 2, size=size, longest=f"{longest:,.0f}" if longest >= 100 else f"{longest:.3g}")


def _waves(layout: Turned | None, size: int, dim: int) -> Lines:
    """The number of tokens for a full turn of each pair, beside this layer's RoPE."""
    own = sinusoid.wavelengths(size)
    at = [2 * i / size for i in range(size // 2)]
    series = [Line(_("sinusoidal"), at, own.tolist(), points=True)]
    if layout is not None:
        turning = [wave for wave in np.abs(layout.wavelengths).tolist() if math.isfinite(wave)]
        places = [i / len(turning) for i in range(len(turning))]
        series.append(Line(_("RoPE of L{layer}").format(layer=layout.layer), places, turning, dash="dash"))
    return Lines(
        series=series,
        x_title=_("dimension, as a share of all"),
        y_title=_("tokens of a full turn"),
        x_range=(0.0, 1.0),
        log_y=True,
        marker=((dim - dim % 2) / size, _("dimension {dim}").format(dim=dim)),
        level=(20000 * math.pi, "20000π"),
        height=300,
    )


# -- a shift ----------------------------------------------------------------------------------------------------------


def show_turn(opened: PageContext, query: int) -> ExportBundle:
    """p(pos) and p(0), rotated by the same angles, those of Δ steps."""
    size, context = int(state().size), opened.runner.info.max_tokens
    by = place("delta", STEP, rotation.FARTHEST * context)
    theta, pairs = sinusoid.omegas(size), size // 2
    here, further = (sinusoid.pairs_at(query, size), sinusoid.pairs_at(query + by, size))
    difference = sinusoid.shift_error(query, by, size)
    said = _("Δ = {by} further than {token}: every pair turns by Δ · ω, wherever it is")
    said = said.format(token=query_name(opened.capture, query), by=by)
    show_finding(said, escape(_("a formula, not this model’s numbers")))
    payload = rotation.RotationPicture(
        head="p",
        token=f"p({query})",
        own=STEP,
        position=by,
        span=state().span,
        context=context,
        q=here,
        k=sinusoid.pairs_at(0, size),
        theta=theta,
        dimensions=np.array([[2 * i + 1, 2 * i] for i in range(pairs)]),
        factor=1.0,
        difference=error_size(difference),
        pair=pinned(pairs),
        texts=translated(TURN_TEXTS),
    ).packed()
    on = {"position": put("delta", STEP), "span": widen, "pair": pin}
    mount(rotation.SOURCE, payload, key="sinusoid_turn", on=on)
    table = pd.DataFrame(
        np.column_stack([theta, by * theta, here, further]),
        index=[f"{2 * i}, {2 * i + 1}" for i in range(pairs)],
        columns=["ω", "Δ · ω", "cos(pos)", "sin(pos)", "cos(pos + Δ)", "sin(pos + Δ)"],
    )
    title = titled(opened, _("one step further"))
    return ExportBundle(
        name=f"positions-sinusoidal-{size}-turn",
        title=title,
        what=f"sinusoidal position {query} and the one {by} steps further on, by pairs of {size} dimensions",
        tables=lambda: {title: table},
        page=component_page(rotation.SOURCE, payload),
        picture=lambda title, words: dials_svg(
            here, sinusoid.pairs_at(0, size), by * theta, theta, title=title, caption=words
        ),
        arrays={"before": here, "after": further, "omega": theta},
        code="\nimport torch\n\n"
        "from attention_atlas.attention.position_biases import sinusoidal, sinusoidal_shift\n\n"
        f"here, further = sinusoidal(torch.tensor([{query}, {query + by}]), {size})\n"
        f"turn = sinusoidal_shift({by}, {size})  # one matrix for all positions: turn @ here == further",
    )  # fmt: skip  # the picture's arguments in one line
