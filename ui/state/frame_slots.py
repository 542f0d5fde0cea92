"""The places of a page's frame that the page fills while it runs."""

from __future__ import annotations

from collections.abc import Callable
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
    strip: DeltaGenerator  # of the model
    status: DeltaGenerator  # what is waited for
    stop: DeltaGenerator  # the way to wait no longer,
    preview: DeltaGenerator  # and what is waited for will be
    stoppable: bool = True  # not once its button is there
    last: Callable[[], None] | None = None  # what is drawn when the page is, and knows how that changed the model

    def clear_status(self) -> None:
        """Nothing is waited for."""
        self.status.empty()
        self.stop.empty()

    def draw_last(self) -> None:
        """At the end of the page."""
        last, self.last = self.last, None
        if last is not None:
            last()


def frame_slots() -> FrameSlots:
    """Those of this run."""
    return st.session_state[_KEY]


def set_frame_slots(slots: FrameSlots) -> None:
    """From now on these."""
    st.session_state[_KEY] = slots
