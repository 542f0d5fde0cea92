"""What of the address a session holds: its parts by name, as they are written; what is at its default is left out."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

_PARTS, _TOLD = "parts", "told"


def hold(parts: Mapping[str, str]) -> None:
    """Hold these parts and no others."""
    st.session_state[_PARTS] = dict(parts)


def held() -> dict[str, str]:
    """Every part, by name."""
    return dict(st.session_state[_PARTS])


def written(name: str) -> str | None:
    """A part as it is written; None at its default."""
    return st.session_state[_PARTS].get(name)


def choose(name: str, value: str, default: str) -> None:
    """Remember what was chosen for a control; the default is not worth a place in the address."""
    if value == default:
        st.session_state[_PARTS].pop(name, None)
    else:
        st.session_state[_PARTS][name] = value


def told() -> dict[str, list[str]]:
    """What was said of parts that are not possible, by the scope of the state they belong to."""
    return st.session_state.setdefault(_TOLD, {})
