"""Linear attention on the page Zoo: both orders of its products for the open head, and Lightning's blocks."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd
import streamlit as st

from analysis.linear_sums import LinearSums, left_first, lightning_sums, linear_sums, right_first
from analysis.units import token_units
from analysis.zoo import captured_head
from attention.zoo.head import Head
from pages.zoo.cut import show_cut
from pages.zoo.numbers import show_rule, show_work
from pages.zoo.state import BY_NAME, ZooState, first_drawn, show_sliders, state, values_of
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.state.controls import choose
from ui.state.page_state import change
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.components.bracketings import bracketings as component
from viz.markdown import plain

LENGTHS = (1, 4, 16, 64, 256, 1024, 4096)


@dataclass(frozen=True, eq=False)
class LinearInView:
    """What is in view."""

    opened: PageContext
    start: int  # the first token drawn
    values: dict[str, int]  # Lightning's parameters; empty if both orders are shown
    sums: LinearSums
    payload: bytes


def show_linear(opened: PageContext) -> LinearInView:
    """Show the products, and the rule beside them. Raises NotSeparable."""
    start = first_drawn(len(opened.capture.tokens))
    head = captured_head(opened.capture, opened.layer, opened.head, start)
    left, right = st.columns([0.74, 0.26], gap="medium")
    with right:
        choose(ZooState, "linear", state().linear, {"orders": _("two orders"), "blocks": _("Lightning’s blocks")})
    blocks = state().linear == "blocks"
    variant = BY_NAME["lightning" if blocks else "linear"]
    values = values_of(variant, head.n_tokens)
    if refusal := variant.refusal(head):
        with right:
            st.info(plain(_(refusal).format(variant=_(variant.label))))
        blocks, variant, values = False, BY_NAME["linear"], {}
    with right:
        if blocks:
            show_sliders(variant, [one for one in variant.parameters if one.name == "half_life"], values, head.n_tokens)
        sums = lightning_sums(head, values["half_life"]) if blocks else linear_sums(head)
    payload = _payload(opened, start, head, sums, values.get("tile", 0))
    with left:
        show_finding(escape(_of_blocks(head.n_tokens, values["tile"]) if blocks else _finding(sums)))
        on = {
            "read": lambda token: change(ZooState, read=start + int(token)),
            "block": lambda size: change(ZooState, values={"lightning.tile": int(size)}),
        }
        mount(component.SOURCE, payload, key="bracketings", on=on)
    with right:  # after the products, also on phones
        show_cut(opened, start)
        show_rule(variant)
        left_out = [_(words).format(variant=_(variant.label)) for words in variant.left_out(head)]
        show_work(variant, values, head.q.shape[-1], left_out)
        if not blocks and sums.causal != head.sees_past:
            said = _("This layer hides more than the future; here only the future is hidden.")
            st.html(f"<p class='atlas-caption'>{escape(said)}</p>")
    return LinearInView(opened, start, values, sums, payload)


def _finding(sums: LinearSums) -> str:
    """Which order is less work on this text."""
    (n, d), d_value = sums.q.shape, sums.v.shape[1]
    map_work, state_work = (of(n, d, d_value).multiply_adds for of in (left_first, right_first))
    said = _("At {count} tokens, {order} is less work: {less} multiply-adds, not {more}")
    if map_work == state_work:
        said = _("At {count} tokens, both orders are the same work: {less} multiply-adds")
    order = "(Q Kᵀ) V" if map_work < state_work else "Q (Kᵀ V)"
    less, more = sorted((map_work, state_work))
    return said.format(count=f"{n:,}", order=order, less=f"{less:,}", more=f"{more:,}")


def _of_blocks(n_tokens: int, size: int) -> str:
    """How many of the unmasked cells are computed, and how many a state stands for."""
    sizes = [min(size, n_tokens - first) for first in range(0, n_tokens, size)]
    cells, seen = sum(one * (one + 1) // 2 for one in sizes), n_tokens * (n_tokens + 1) // 2
    said = _("In blocks of {size}, {cells} of {seen} cells are computed; states stand for the other {rest}")
    return said.format(size=size, cells=f"{cells:,}", seen=f"{seen:,}", rest=f"{seen - cells:,}")


def _payload(opened: PageContext, start: int, head: Head, sums: LinearSums, block: int) -> bytes:
    return component.BracketingsPicture(
        q=sums.q,
        k=sums.k,
        v=sums.v,
        labels=[unit.label for unit in token_units(opened.capture)[start : start + head.n_tokens]],
        first=start,
        causal=sums.causal,
        decay=sums.decay,
        divides=sums.divides,
        block=block,
        read=max(0, min(state().read - start, head.n_tokens - 1)),
        query="φ(Q)" if sums.divides else "Q",
        key="φ(K)" if sums.divides else "K",
        texts=translated(component.TEXTS),
    ).packed()


# -- export -----------------------------------------------------------------------------------------------------------


def linear_view(shown: LinearInView) -> ExportBundle:
    """The intermediate results of the two products and their work, and the factors."""
    opened, name = shown.opened, f"L{shown.opened.layer}H{shown.opened.head}"
    rule = f"Lightning in blocks of {shown.values['tile']}" if shown.values else "linear attention in both orders"
    return ExportBundle(
        name=f"zoo-linear-{name}",
        title=f"{name} · {_('linear attention')}",
        what=rule,
        tables=lambda: {_("two orders"): _table(shown)},
        page=component_page(component.SOURCE, shown.payload),
        picture=lambda title, words: charts_svg([_chart(shown)], title=title, caption=words),
        arrays={"q": shown.sums.q, "k": shown.sums.k, "v": shown.sums.v},
        code=_code(opened, shown),
    )


def _table(shown: LinearInView) -> pd.DataFrame:
    (n, d), d_value = shown.sums.q.shape, shown.sums.v.shape[1]
    rows = [left_first(n, d, d_value), right_first(n, d, d_value)]
    return pd.DataFrame(
        [[one.between, one.multiply_adds] for one in rows],
        index=["(Q Kᵀ) V", "Q (Kᵀ V)"],
        columns=[_("numbers between"), _("multiply-adds")],
    )


def _chart(shown: LinearInView) -> Lines:
    """Both orders for texts of other lengths; the products themselves are in the HTML."""
    d, d_value = shown.sums.q.shape[1], shown.sums.v.shape[1]
    orders = {"(Q Kᵀ) V": left_first, "Q (Kᵀ V)": right_first}
    return Lines(
        series=[
            Line(name, list(LENGTHS), [of(n, d, d_value).multiply_adds for n in LENGTHS], points=True)
            for name, of in orders.items()
        ],
        x_title=_("tokens"), y_title=_("multiply-adds"), log_x=True, log_y=True, heading=_("two orders"),
    )  # fmt: skip  # both axes in a line


def _code(opened: PageContext, shown: LinearInView) -> str:
    name, numbers = ("lightning", shown.values) if shown.values else ("linear", {})
    return "\n".join(
        [
            "",
            "from attention_atlas.analysis.zoo import captured_head",
            "from attention_atlas.attention.zoo.table import BY_NAME",
            "",
            f"head = captured_head(capture, {opened.layer}, {opened.head}, {shown.start})",
            f'left = BY_NAME["{name}"].map(head, {numbers}) @ head.v  # (Q Kᵀ) V',
            f'right = BY_NAME["{name}"].mixed(head, {numbers})  # Q (Kᵀ V)',
            "print((left - right).abs().max())",
        ]
    )
