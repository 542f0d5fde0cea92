"""What the page Inside a cell holds besides the place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ui.state.page_state import setting

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class CellState:
    """``sets`` is what a click on the text sets, ``step`` the one that is open, counted from 1; 0 for none."""

    SCOPE: ClassVar[str] = "cell"

    sets: Literal["query", "key"] = setting("query", N_("A click on the text sets"))
    step: int = setting(0, N_("open step"), min=0, max=8)
