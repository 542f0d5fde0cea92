"""The cost of attention measured on this machine: seconds and bytes of one head over increasingly long texts."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd
import streamlit as st

from analysis.sentences import joined
from analysis.zoo_cost import (
    Attention,
    Measured,
    by_tiles,
    crossing,
    crossing_by_formula,
    memory_of,
    of_variant,
    stored,
    work_of,
)
from attention.zoo import flash
from attention.zoo.variant import Variant
from jobs.zoo_cost import LONGEST, MOST_BYTES, SECONDS, CostRun
from model_runner.memory import readable
from pages.zoo.by_formula import SOFTMAX, Numbered, looks_back
from pages.zoo.cost import show_choices
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding
from ui.shell.components import show_heading
from ui.shell.page import PageContext
from ui.shell.progressive import progressive, show_chart
from ui.state import session
from ui.state.kept_click import button
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.curves import standalone

N_ = str  # marks a text for Babel without translating it here

STORED, TILES = "softmax", "tiles"  # names of the two that are always measured
LABELS = {STORED: N_("softmax, map stored"), TILES: N_("softmax, torch’s tiles")}


@dataclass(frozen=True, eq=False)
class MeasuredCost:
    """The measurement: of which head, which variants with which parameters, and its progress."""

    run: CostRun
    causal: bool
    variants: tuple[Numbered, ...]


def show_measured(opened: PageContext) -> MeasuredCost:
    """Show two charts as they grow, and where the lines cross."""
    left, right = st.columns([0.7, 0.3], gap="large")
    with right:
        variants = show_choices()
        below = st.container(key="cost_words")
    record = opened.capture.record(opened.layer)
    causal = looks_back(record, opened.head)
    d_head = record.q.shape[-1]
    key = (d_head, causal, tuple((one.name, tuple(values.items())) for one, values in variants))
    found = MeasuredCost(
        session.jobs().get("cost", key, lambda _name: _run(d_head, causal, variants)), causal, variants
    )
    with left:
        progressive(found.run, lambda: _show(found))
    with below:
        _show_words(found)
    return found


def _run(d_head: int, causal: bool, variants: tuple[Numbered, ...]) -> CostRun:
    ways: dict[str, tuple[Attention, bool]] = {STORED: (stored, causal), TILES: (by_tiles, causal)}
    for variant, values in variants:
        back = variant.mask == "causal" or (causal and variant.mask != "none")
        ways[variant.name] = of_variant(variant, values), back
    return CostRun(ways, d_head)


def _label(found: MeasuredCost, name: str) -> str:
    names = {one.name: one.label for one, _values in found.variants}
    return _(LABELS.get(name) or names[name])


def _show(found: MeasuredCost) -> None:
    run = found.run
    with st.container(key="cost_finding"):  # present from the first run on, or all below it would be remounted
        if (said := _finding(found)) is not None:
            show_finding(*said, of_several=True)
    with st.container(key="cost_run", horizontal=True, vertical_alignment="center", gap="small"):
        longest = max((one.n_tokens for one in run.items), default=0)
        words = _("measured up to {count} tokens").format(count=f"{longest:,}")
        if run.running:
            st.progress(min(1.0, run.spent / SECONDS), text=words)
            button(_("stop"), key="cost_stop", on_click=run.stop)
        else:
            st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="content")
            if run.stopped:
                button(_("go on"), key="cost_start", on_click=run.start)
    for key, chart in zip(("cost_seconds", "cost_bytes"), charts_of(found), strict=True):
        show_heading(escape(chart.heading))
        show_chart(chart, key=key, alt=chart.heading, still=not run.running)


def _finding(found: MeasuredCost) -> tuple[str, str] | None:
    """The length from which the first variant is faster, measured and by formula; HTML. None before it is measured."""
    if not found.variants:
        return None
    variant, values = found.variants[0]
    lengths, at = _measured_crossing(found, variant)
    if not lengths:
        return None
    words = _("{name} is not yet faster than softmax at {count} tokens")
    if at is not None:
        words = _("From about {count} tokens on, {name} is faster than softmax")
    said = words.format(name=_(variant.label), count=f"{lengths[-1] if at is None else round(at):,}")
    return escape(said), escape(joined(_("Softmax with its map stored."), _by_formula(found, variant, values)))


def charts_of(found: MeasuredCost) -> tuple[Lines, Lines]:
    """Seconds beside the formulas, and bytes."""
    run = found.run
    measured = [(name, run.of(name)) for name in run.names]
    names = {name: _label(found, name) for name, _items in measured}
    seconds = [Line(names[n], _lengths(items), [one.seconds for one in items], points=True) for n, items in measured]
    held = [
        Line(names[n], _lengths(items), [max(1, one.n_bytes) for one in items], points=True) for n, items in measured
    ]
    return (
        Lines(
            series=[*seconds, *_formulas(found)], x_title=_("tokens"), y_title=_("seconds"), log_x=True, log_y=True,
            height=350, heading=_("Seconds for one head"),
        ),
        Lines(
            series=[*held, *_memory_formulas(found)], x_title=_("tokens"), y_title=_("bytes"), log_x=True, log_y=True,
            height=260, heading=_("The most bytes that it holds at once, beyond q, k and v"),
        ),
    )  # fmt: skip  # a chart a paragraph


def _lengths(items: list[Measured]) -> list[int]:
    return [one.n_tokens for one in items]


def _formulas(found: MeasuredCost) -> list[Line]:
    """Each formula's multiply-adds at the speed of softmax's longest text, up to a million tokens."""
    done = found.run.of(STORED)
    if not done:
        return []
    d = found.run.d_head
    last = done[-1]
    speed = last.seconds / flash.multiply_adds(last.n_tokens, d)
    lengths = [2**power for power in range(7, 21)]
    works = [("softmax", lambda n: flash.multiply_adds(n, d))]
    works += [(_(one.label), work_of(one, values, d)) for one, values in found.variants]
    words = _("{name}, formula")
    return [
        Line(words.format(name=name), lengths, [speed * work(n) for n in lengths], dash="dot", like=place)
        for place, (name, work) in zip(_places(found), works, strict=True)
    ]


def _places(found: MeasuredCost) -> list[int]:
    """Indices of the measured lines that have formulas: softmax with its map stored, and the variants."""
    names = found.run.names
    return [names.index(name) for name in (STORED, *(variant.name for variant, _values in found.variants))]


def _memory_formulas(found: MeasuredCost) -> list[Line]:
    """Bytes by formula, for float32 numbers, up to the longest measured text."""
    lengths, d = _lengths(found.run.of(STORED)), found.run.d_head
    if not lengths:
        return []
    lengths = [2**power for power in range(7, max(one.n_tokens for one in found.run.items).bit_length())]
    held = [("softmax", memory_of(SOFTMAX, {}, d))]
    held += [(_(one.label), memory_of(one, values, d)) for one, values in found.variants]
    words = _("{name}, formula")
    return [
        Line(words.format(name=name), lengths, [4 * of(n) for n in lengths], dash="dot", like=place)
        for place, (name, of) in zip(_places(found), held, strict=True)
    ]


def _show_words(found: MeasuredCost) -> None:
    """Say where each variant becomes cheaper, measured and by formula, and how it was measured."""
    words = [_crossed(found, variant, values) for variant, values in found.variants[1:]]
    words += [
        _(
            "{name} is computed here by its whole map: seconds and bytes grow with the square, whatever the formula."
        ).format(name=_(variant.label))
        for variant, _values in found.variants
        if variant.whole_map
    ]
    words.append(
        _(
            "One head of {d} dimensions, random numbers in float32, on this machine’s processor as it is now: the "
            "fastest of three runs. A length is left out where it might take more than is left of {seconds} seconds, "
            "or more than {size}. Bytes are those of torch’s tensors. Dotted: the formula, at the speed of softmax’s "
            "longest text; of bytes, what the rule itself has to hold, of which a program holds some numbers twice."
        ).format(d=found.run.d_head, seconds=f"{SECONDS:.0f}", size=readable(MOST_BYTES))
    )
    st.html("".join(f"<p class='atlas-caption'>{escape(one)}</p>" for one in words))


def _crossed(found: MeasuredCost, variant: Variant, values: dict[str, int]) -> str:
    """From which length on it is cheaper: measured, then by formula."""
    lengths, at = _measured_crossing(found, variant)
    words = _("{name} is faster than softmax with its map stored from about {count} tokens on.")
    if at is None:
        words = (
            _("{name} is not yet faster than softmax with its map stored at {count} tokens.") if lengths else "{name}:"
        )
    said = words.format(name=_(variant.label), count=f"{lengths[-1] if at is None else round(at):,}" if lengths else "")
    return joined(said, _by_formula(found, variant, values))


def _measured_crossing(found: MeasuredCost, variant: Variant) -> tuple[list[int], float | None]:
    """The lengths at which both were measured, and where the variant becomes faster; None if it does not."""
    usual = {one.n_tokens: one.seconds for one in found.run.of(STORED)}
    rival = {one.n_tokens: one.seconds for one in found.run.of(variant.name)}
    lengths = sorted(usual.keys() & rival.keys())
    return lengths, crossing(lengths, [usual[n] for n in lengths], [rival[n] for n in lengths])


def _by_formula(found: MeasuredCost, variant: Variant, values: dict[str, int]) -> str:
    d = found.run.d_head
    formula = crossing_by_formula(lambda n: flash.multiply_adds(n, d), work_of(variant, values, d), LONGEST)
    cheaper = _("By formula it is cheaper from {count} tokens on.") if formula else _("By formula it never is cheaper.")
    return cheaper.format(count=f"{formula or 0:,}")


# -- export -----------------------------------------------------------------------------------------------------------


def measured_view(found: MeasuredCost) -> ExportBundle:
    """Seconds and bytes at every length."""
    charts, title = charts_of(found), _("Measured on this machine")
    return ExportBundle(
        name="zoo-measured",
        title=title,
        what=f"one head, d = {found.run.d_head}, float32 random numbers; measured, not of the model's text",
        tables=lambda: _tables(found),
        page=lambda title, words, lang: standalone(charts, title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(charts, title=title, caption=words),
        code=_code(found),
        starts_with_capture=False,
    )


def _tables(found: MeasuredCost) -> dict[str, pd.DataFrame]:
    run = found.run
    lengths = sorted({one.n_tokens for one in run.items})

    def table(read: str) -> pd.DataFrame:
        columns = {
            _label(found, name): pd.Series(
                {one.n_tokens: float(getattr(one, read)) for one in run.of(name)}, dtype=float
            )
            for name in run.names
        }
        frame = pd.DataFrame(columns, index=lengths)
        return frame.set_axis([f"{n:,}" for n in lengths])

    return {_("seconds"): table("seconds"), _("bytes"): table("n_bytes")}


def _code(found: MeasuredCost) -> str:
    lengths = sorted({one.n_tokens for one in found.run.items})[:4]
    lines = [
        "from attention_atlas.analysis.zoo_cost import by_tiles, measure, of_variant, stored",
        "from attention_atlas.attention.zoo.table import BY_NAME",
        "",
        f"ways = {{'softmax': (stored, {found.causal}), 'tiles': (by_tiles, {found.causal})}}",
    ]
    for variant, values in found.variants:
        back = variant.mask == "causal" or (found.causal and variant.mask != "none")
        lines.append(f"ways['{variant.name}'] = of_variant(BY_NAME['{variant.name}'], {values}), {back}")
    lines += [
        f"for n_tokens in {lengths}:",
        "    for name, (attention, causal) in ways.items():",
        f"        print(measure(name, attention, n_tokens, {found.run.d_head}, causal=causal))",
    ]
    return "\n".join(lines)
