"""The state of the page Inside a cell besides the selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ui.state.page_state import setting

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class CellState:
    """``sets`` says what a click on the text sets; ``step`` is the open step, counted from 1, or 0 for none."""

    SCOPE: ClassVar[str] = "cell"

    sets: Literal["query", "key"] = setting("query", N_("A click on the text sets"))
    step: int = setting(0, N_("open step"), min=0, max=8)
