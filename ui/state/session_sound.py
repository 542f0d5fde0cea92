"""The sound of this session, for models that listen: its reader's own, or the tone that is made here. In no address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:  # torch is imported only after the frame is painted
    from model_runner import Runner
    from model_runner.sound import Sound

SOUND, _LISTENS = "sound", "listens"


def own_sound() -> Sound | None:
    """What the reader gave; None for the tone."""
    return st.session_state.get(SOUND)


def sound() -> Sound:
    """What is heard."""
    from model_runner.sound import rising_tone

    return own_sound() or rising_tone()


def listens(model: str) -> bool:
    """Whether a model listens, as far as this session has met it."""
    return st.session_state.get(_LISTENS) == model


def noted(model: str, runner: Runner) -> Runner:
    """The runner of a model, of which it is known from now on whether it listens."""
    if runner.info.hears:
        st.session_state[_LISTENS] = model
    return runner
