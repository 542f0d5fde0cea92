"""The second view of the page Families: well-known models of each kind, from their papers."""

from __future__ import annotations

from html import escape

import streamlit as st

from analysis.families_published import KNOWN, Known
from pages.families.cards import TITLES
from ui.shared.finding import show_finding
from ui.shell.components import show_html
from ui.wording.i18n import _


def show_known() -> None:
    """Show a table with one row per model; on a narrow screen it scrolls."""
    causal = sum(one.kind == "causal" for one in KNOWN)
    words = _("{count} of these {total} models hide the future from every token")
    show_finding(escape(words.format(count=causal, total=len(KNOWN))))
    heads = [_("model"), _("kind"), _("who sees whom"), _("positions of tokens"), _("normalisation"), _("activation"),
             _("trained to"), _("source")]  # fmt: skip
    head = "".join(f"<th scope='col'>{escape(one)}</th>" for one in heads)
    rows = "".join(_row(one) for one in KNOWN)
    table = f"<table class='atlas-known'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    show_html(f"<div class='atlas-wide'>{table}</div>", key="known_models")
    words = _(
        "The kind is the mask. Everything else was chosen separately and can be exchanged: many of "
        "today’s causal models have Llama’s positions, normalisation and activation, and today’s "
        "encoders turn queries and keys too (ModernBERT, Warner et al. 2024, arXiv:2412.13663)."
    )
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")


def _row(one: Known) -> str:
    cells = [_(TITLES[one.kind]), _(one.mask), _(one.positions), _(one.normalisation), _(one.activation), _(one.aim)]
    shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f"<tr><th scope='row'>{escape(one.name)}</th>{shown}<td class='source'>{escape(one.source)}</td></tr>"
