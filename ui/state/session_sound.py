"""The sound of this session for audio models: the reader's own, or the built-in tone. Not in the URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:  # torch is imported only after the frame is painted
    from model_runner import Runner
    from model_runner.sound import Sound

SOUND, _LISTENS = "sound", "listens"


def own_sound() -> Sound | None:
    """The reader's sound, or None for the tone."""
    return st.session_state.get(SOUND)


def sound() -> Sound:
    """The current sound."""
    from model_runner.sound import rising_tone

    return own_sound() or rising_tone()


def listens(model: str) -> bool:
    """Return True if the model is an audio model; known only if this session has loaded it."""
    return st.session_state.get(_LISTENS) == model


def noted(model: str, runner: Runner) -> Runner:
    """Record whether the model's runner takes sound, and return the runner."""
    if runner.info.hears:
        st.session_state[_LISTENS] = model
    return runner
