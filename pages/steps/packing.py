"""Short documents in windows of one length: the share of padding with one document per row, and with packing."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.long_text import chapter
from analysis.packing import Windows, one_a_row, packed
from pages.steps.state import StepsState, state
from ui.shared import cached
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding
from ui.shell.components import show_heading, show_html
from ui.shell.page import PageContext
from ui.state.controls import pick
from ui.state.url_values import options_of
from ui.wording.i18n import _, language
from ui.wording.sentences import number
from viz.components.still import still
from viz.packing_svg import windows_html, windows_svg

MOST = 24  # rows that are drawn of each


@dataclass(frozen=True, eq=False)
class Packing:
    """Paragraphs of the chapter as documents, in this model's tokens, both ways."""

    lengths: tuple[int, ...]
    window: int
    alone: Windows
    together: Windows


def show_packing(opened: PageContext) -> Packing:
    """Show the window size, the finding, and both ways side by side."""
    held, text = state(), chapter(language())
    key = ("document lengths", opened.capture.request.model, opened.capture.request.revision, language())
    lengths = cached.made(
        key, lambda: tuple(len(opened.runner.ids_of(part)) for part in text.whole.split("\n\n") if part)
    )
    words = _("window of {count} tokens")
    windows = {one: words.format(count=one) for one in options_of(StepsState, "window")}
    pick(StepsState, "window", held.window, windows, width=210)
    window = int(held.window)
    found = Packing(lengths, window, one_a_row(lengths, window), packed(lengths, window))
    said = _("One document a row: {alone} padding; packed: {together}").format(
        alone=number(found.alone.padding, "share"), together=number(found.together.padding, "share")
    )
    beside = _("{count} documents, the paragraphs of {title}; {before} rows become {after}")
    beside = beside.format(
        count=len(lengths), title=text.title, before=len(found.alone.rows), after=len(found.together.rows)
    )
    show_finding(escape(said), escape(beside), of_several=True)
    for column, (name, rows), key in zip(st.columns(2, gap="large"), _panels(found), ("alone", "packed"), strict=True):
        with column:
            show_heading(escape(name))
            show_html(windows_html(rows, window, name, most=MOST), key=f"packing_{key}")
            if len(rows) > MOST:
                more = _("Showing the first {count} of {total} rows.").format(count=MOST, total=len(rows))
                st.html(f"<p class='atlas-caption'>{escape(more)}</p>")
    note = _("Each coloured piece is a document, an outline is padding. Packed documents must not read each other: "
             "positions restart, and a mask "
             "keeps them apart (Positions, “what if”; Masks, “two documents”).")  # fmt: skip
    st.html(f"<p class='atlas-caption'>{escape(note)}</p>")
    return found


def _panels(found: Packing) -> list[tuple[str, list[list[tuple[int, int]]]]]:
    """Names, and rows as drawn."""
    named = (
        (_("One document a row"), found.alone),
        (_("Packed: the longest first, where there is room"), found.together),
    )
    return [(name, [[(one.document, one.length) for one in row] for row in ways.rows]) for name, ways in named]


def packing_view(found: Packing) -> ExportBundle:
    """Both ways, and the documents' lengths."""
    ways = (found.alone, found.together)
    names = [name for name, _rows in _panels(found)]
    numbers = {
        _("rows"): [float(len(one.rows)) for one in ways],
        _("padding"): [one.padding for one in ways],
    }
    name, rows = _panels(found)[1]
    return ExportBundle(
        name=f"packing-{found.window}",
        title=_("Packing"),
        of_text=False,
        what=f"{len(found.lengths)} documents, the paragraphs of a chapter, in windows of {found.window} tokens",
        tables=lambda: {_("Packing"): pd.DataFrame(numbers, index=names)},
        page=component_page(
            still.SOURCE, still.still_picture(windows_html(rows, found.window, name, most=MOST)).packed()
        ),
        picture=lambda title, words: windows_svg(_panels(found), found.window, title=title, caption=words, most=MOST),
        arrays={"lengths": np.array(found.lengths)},
        code="from attention_atlas.analysis.packing import one_a_row, packed\n\n"
        f"lengths = {list(found.lengths)}\n"
        f"alone, together = (way(lengths, {found.window}) for way in (one_a_row, packed))\n"
        "shares = alone.padding, together.padding",
        starts_with_capture=False,
    )
