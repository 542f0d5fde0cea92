"""Mounting of our canvas and SVG components; what they send becomes a call with its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from streamlit.components.v2 import component as register

from viz.components.source import Source


def mount(
    source: Source, payload: bytes, *, key: str, on: Mapping[str, Callable[[Any], None]], narrow: bool = False
) -> None:
    """Show a component; ``on`` names what it can send and what to do with the value, before the page runs again."""

    def answer(name: str) -> Callable[[], None]:
        return lambda: on[name](st.session_state[key].get(name))

    component = register(source.name, html=source.html, css=source.css, js=source.js)
    answers: dict[str, Any] = {f"on_{name}_change": answer(name) for name in on}
    component(key=key, data=payload, width="content" if narrow else "stretch", **answers)
