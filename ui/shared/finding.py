"""The finding: a sentence that states what a picture shows, with its numbers; the figure's title on every page."""

from __future__ import annotations

from html import escape

import streamlit as st

from model_runner import Capture
from ui.shell.components import name_figure
from ui.state.run_context import run_context
from ui.wording.i18n import _
from viz.token_text import lone_spaces


def show_finding(said: str, beside: str = "", *, of_several: bool = False) -> None:
    """Show the title of the next figure, with ``beside`` after it in a lighter style; both are HTML.

    ``of_several``: several figures follow, each with its own name; phones show the finding after the first name.
    """
    about = f" <span>{beside}</span>" if beside else ""
    html = f"<div class='atlas-head' data-finding role='heading' aria-level='2'><b>{said}</b>{about}</div>"
    st.html(html, width="stretch")
    if of_several:
        run_context().finding = said
    else:
        name_figure(said, beside)


def query_name(capture: Capture, position: int) -> str:
    """A query token in quotes and the queries' colour; HTML."""
    return f"<span class='atlas-q'>{token_name(capture, position)}</span>"


def key_name(capture: Capture, position: int) -> str:
    """A key token in quotes and the keys' colour; HTML."""
    return f"<span class='atlas-k'>{token_name(capture, position)}</span>"


def bare(text: str) -> str:
    """A token's text without the dots that mark spaces."""
    return text.strip("·") or lone_spaces(text)


def token_name(capture: Capture, position: int) -> str:
    """A token in quotes without the dot of its space, and with its position if it occurs twice; HTML."""
    texts = [bare(token.text) for token in capture.tokens]
    name = texts[position]
    special = name.startswith("⟨")
    named = f"<bdi>{escape(name)}</bdi>"
    place = f"\u00a0({position})" if texts.count(name) > 1 else ""
    return (named if special else _("“{token}”").format(token=named)) + place
