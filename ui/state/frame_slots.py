"""The places of a page's frame that the page fills while it runs."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

_KEY = "frame_slots"


@dataclass
class FrameSlots:
    """Made anew by each run's frame, in the order in which they stand."""

    badge: DeltaGenerator
    read: DeltaGenerator  # how to read the picture
    tables: DeltaGenerator
    take: DeltaGenerator  # the menu of files
    status: DeltaGenerator  # what is waited for
    stop: DeltaGenerator  # the way to wait no longer,
    preview: DeltaGenerator  # and what is waited for will be
    stoppable: bool = True  # not once its button is there

    def clear_status(self) -> None:
        """Nothing is waited for."""
        self.status.empty()
        self.stop.empty()


def frame_slots() -> FrameSlots:
    """Those of this run."""
    return st.session_state[_KEY]


def set_frame_slots(slots: FrameSlots) -> None:
    """From now on these."""
    st.session_state[_KEY] = slots
