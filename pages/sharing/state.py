"""The state of the page Sharing heads: its view, the number of key/value heads, and which drift is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ui.state.page_state import current, setting

N_ = str  # marks a text for Babel without translating it here

MOST = 10**6  # heads; upper bound of all numbers

View = Literal["model", "counts"]
Drift = Literal["attention", "output"]


@dataclass(frozen=True)
class SharingState:
    """``kv_heads`` None is the largest number that changes something."""

    SCOPE: ClassVar[str] = "sharing"

    view: View = setting("model", N_("view"))
    kv_heads: int | None = setting(None, N_("key/value heads"), min=-MOST, max=MOST)
    drift: Drift = setting("attention", N_("drift"))


def state() -> SharingState:
    """The page's current state."""
    return current(SharingState)
