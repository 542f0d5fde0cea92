"""The settings of a film in one row: what determines it besides the text."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from model_runner.transforms import Sampling
from pages.film.state import LONGEST, FilmState, state
from ui.shared.sampling_settings import SamplingA, current
from ui.shell.components import leave_for
from ui.shell.page import PageContext
from ui.state import session
from ui.state.controls import number, slider, switch
from ui.state.kept_click import button
from ui.state.selection import ModelOptions
from ui.wording.i18n import _

NEXT_TOKEN = Path(__file__).parents[1] / "next_token" / "page.py"
WHOLE = 2**53 - 1  # larger integers do not fit in a number input
WIDTH = 116


def show_controls(opened: PageContext) -> bool:
    """Show the row; returns whether the picture shows every head."""
    sampling, held = current(), state()
    number(FilmState, "length", held.length, (1, LONGEST), _("Tokens"), width=WIDTH)
    _slider("temperature", sampling.temperature, (0.0, 2.0), _("Temperature"), 0.05)
    _slider("top_p", sampling.top_p, (0.01, 1.0), "top-p", 0.01)
    _show_seed(sampling)
    switch(FilmState, "one_head", held.one_head, _("one head"))
    no_template = not opened.runner.has_chat_template and not session.chat()
    switch(ModelOptions, "chat", session.chat(), _("chat template"), disabled=no_template)
    words = _("Everything that shapes the distribution.")
    # A link would keep the URL of when it was drawn: a film that has continued since would cost another step of Back.
    button(_("all settings"), key="all_settings", type="tertiary", help=words, on_click=leave_for, args=(NEXT_TOKEN,))
    return not held.one_head


def _slider(name: str, value: float, span: tuple[float, float], words: str, step: float) -> None:
    """A slider whose range is extended to a value in the URL."""
    span = min(span[0], value), max(span[1], value)
    slider(SamplingA, name, value, span, words, step=step, width=140)


def _show_seed(sampling: Sampling) -> None:
    """A number input or, if the seed is too large for it, the seed as text."""
    seed = sampling.seed
    if abs(seed) > WHOLE:
        st.text_input(_("Seed"), str(seed), key=f"film_seed {seed}", width=WIDTH, disabled=True)
    else:
        number(SamplingA, "seed", seed, (min(0, seed), max(2**31 - 1, seed)), _("Seed"), width=WIDTH)
