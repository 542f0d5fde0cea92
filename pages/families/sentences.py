"""Two sentences that the encoder reads together: the part of its map in view, and where each one's attention goes."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import numpy as np
import streamlit as st

from analysis.read_head import ReadHead
from analysis.segments import Part, part_cells, shares
from model_runner.tokens import second_starts
from pages.families.state import FamiliesState, state
from ui.shell.page import PageContext
from ui.state.controls import choose
from ui.wording.i18n import _
from ui.wording.sentences import number

N_ = str  # marks a text for Babel without translating it here

PARTS: dict[Part, str] = {
    "all": N_("all"), "aa": N_("within A"), "ab": "A → B", "ba": "B → A", "bb": N_("within B"),
}  # fmt: skip  # one line


def choose_part(here: PageContext) -> None:
    """Select which sentence attends to which; nothing to select for a single sentence."""
    if second_starts(here.capture.tokens) is not None:
        choose(FamiliesState, "part", state().part, {part: _(words) for part, words in PARTS.items()})


def in_view(here: PageContext, read: ReadHead) -> ReadHead:
    """The map with all cells outside the selected part masked."""
    start, part, window = second_starts(here.capture.tokens), state().part, read.view.window
    if start is None or part == "all" or read.view.how != "exact":
        return read
    cells = part_cells(len(here.capture.tokens), start, part)[window.q0 : window.q1, window.k0 : window.k1]
    return replace(read, view=replace(read.view, values=np.where(cells, read.view.values, np.nan).astype(np.float32)))


def python_lines(here: PageContext) -> str:
    """Code that masks the same cells of ``values``."""
    start, part = second_starts(here.capture.tokens), state().part
    if start is None or part == "all":
        return ""
    return (
        "\n\nimport numpy as np\n\nfrom attention_atlas.analysis.segments import part_cells\n\n"
        f"cells = part_cells(len(capture.tokens), {start}, {part!r})[window.q0 : window.q1, window.k0 : window.k1]\n"
        "values = np.where(cells, values, np.nan)"
    )


def show_shares(here: PageContext) -> None:
    """Show where each sentence's attention goes in this head; for a single sentence, how to enter two."""
    start = second_starts(here.capture.tokens)
    if start is None:
        words = _("Two sentences with [SEP] between them can be looked at part by part.")
    else:
        found = shares(here.capture.weights(here.layer, here.head, shares=True).cpu().double().numpy(), start)
        words = _("A keeps {aa} of its attention and gives {ab} to B; B gives {ba} to A and keeps {bb}.")
        names = ("aa", "ab", "ba", "bb")
        values = {name: number(float(one), "share") for name, one in zip(names, found.ravel(), strict=True)}
        words = words.format(**values)
        words += " " + _("A runs from [CLS] to its [SEP]; cells outside the chosen part are left out of the map.")
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
