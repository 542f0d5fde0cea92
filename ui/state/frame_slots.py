"""The slots of a page's frame that the page fills while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

_KEY = "frame_slots"


@dataclass
class FrameSlots:
    """The slots, created by each run's frame in the order in which they appear."""

    badge: DeltaGenerator
    read: DeltaGenerator  # the help card
    tables: DeltaGenerator
    take: DeltaGenerator  # the export menu
    strip: DeltaGenerator  # the model strip
    status: DeltaGenerator  # the loading status
    stop: DeltaGenerator  # the button that stops loading
    preview: DeltaGenerator  # the preview of a model that is loading
    stoppable: bool = True  # False once the stop button is drawn
    last: Callable[[], None] | None = None  # drawn after the page, when its edits are known

    def clear_status(self) -> None:
        """Clear the status, the stop button and the preview."""
        self.status.empty()
        self.stop.empty()

    def draw_last(self) -> None:
        """Draw what was deferred to the end of the page."""
        last, self.last = self.last, None
        if last is not None:
            last()


def frame_slots() -> FrameSlots:
    """Return this run's slots."""
    return st.session_state[_KEY]


def set_frame_slots(slots: FrameSlots) -> None:
    """Set this run's slots."""
    st.session_state[_KEY] = slots
