"""What a run of a page passes on to what is drawn after it: its figures, and the phones of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui.state.session_value import SessionValue

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from model_runner.edits import Edit


@dataclass
class RunContext:
    """Names and findings are HTML; ``edits`` is None if the page itself edited nothing."""

    figure: tuple[str, str] | None = None  # name of the next figure and the text beside it
    finding: str = ""  # what the next figures show
    of_text: bool = True  # False: made of other numbers, whatever the text
    lesson: str = ""  # words of the lesson step
    edits: tuple[Edit, ...] | None = None
    plain_model: bool = False  # starts with the unedited model, even if edits apply to every page


_RUN = SessionValue("run_context", RunContext)


def run_context() -> RunContext:
    """Return the context of the current or last page run."""
    return _RUN.get()


def begin_run_context() -> None:
    """Start a new context for another run of a page."""
    _RUN.set(RunContext(plain_model=_RUN.get().plain_model))
