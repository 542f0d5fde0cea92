"""An app with a fragment that takes a second when it runs alone, and shows the messages of its component."""

import time
from pathlib import Path

import numpy as np
import streamlit as st

from ui.shell.components import mount, show_page
from ui.state import session
from viz.components.token_strip import token_strip

LABELS = list("abcdef")


@st.fragment
def show() -> None:
    """The strip, and which chips were clicked."""
    heard: list[int] = st.session_state.setdefault("heard", [])
    strip = token_strip.TokenStripPicture(
        labels=LABELS,
        positions=range(len(LABELS)),
        counts=[1] * len(LABELS),
        parts=[[]] * len(LABELS),
        special=[False] * len(LABELS),
        metric=np.full(len(LABELS), np.nan),
        values=[""] * len(LABELS),
        selected=None,
        looked_at=None,
        texts=token_strip.TEXTS,
    ).packed()
    mount(token_strip.SOURCE, strip, key="strip", on={"token": heard.append})
    time.sleep(1)
    st.html(f"<p class='heard'>{heard}</p>")


session.begin()
show_page(Path(__file__))
show()
