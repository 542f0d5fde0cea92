"""The explanation beside a page's picture; it stays open while the reader follows its suggestions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import streamlit as st

from ui.state.frame_slots import frame_slots
from ui.state.kept_click import button
from ui.state.page_state import change, current, setting
from ui.wording.i18n import _
from viz.markdown import plain

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class HelpCard:
    """Whether the explanation is open, on every page."""

    SCOPE: ClassVar[str] = ""

    reading: bool = setting(False, N_("explanation"))


def show_reading(sentences: list[str], *, formula: str, source: str, attempt: str) -> None:
    """Show the page's explanation, closed by default; its contents are sent only when it is open."""
    name, is_open, invitation = _("Read this picture"), current(HelpCard).reading, _("Try this")
    with frame_slots().read:
        button(name, key="read", type="tertiary", on_click=change, args=(HelpCard,), kwargs={"reading": not is_open})
        if not is_open:
            return
        with st.container(key="reading"):
            with st.container(key="reading_head", horizontal=True, vertical_alignment="center"):
                st.html(f"<h2>{name}</h2>", width="stretch")
                button(_("Close"), key="reading_close", type="tertiary", on_click=change, args=(HelpCard,),
                          kwargs={"reading": False})  # fmt: skip
            st.markdown("\n\n".join(map(plain, sentences)))
            st.code(formula, language=None, wrap_lines=True)
            st.caption(plain(_("Source: {source}").format(source=source)))
            st.markdown(f"**{invitation}** {plain(attempt)}")
