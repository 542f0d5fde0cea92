"""What a run of a page leaves behind for what is drawn after it: for its figures, and for a class that follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui.state.session_value import SessionValue

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from model_runner.edits import Edit


@dataclass
class RunContext:
    """Names and findings are HTML; ``edits`` None: the page changed nothing by itself."""

    figure: tuple[str, str] | None = None  # what the figure that is shown next is called, and the words beside it
    finding: str = ""  # what it and those after it show
    of_text: bool = True  # not: what is shown is made of other numbers, whatever the text is
    lesson: str = ""  # the words of its step
    edits: tuple[Edit, ...] | None = None
    plain_model: bool = False  # the page begins with the model as it is, whatever every page shows


_RUN = SessionValue("run_context", RunContext)


def run_context() -> RunContext:
    """Of the page that ran last, or runs."""
    return _RUN.get()


def begin_run_context() -> None:
    """Another run of a page begins: nothing is said of its pictures so far."""
    _RUN.set(RunContext(plain_model=_RUN.get().plain_model))
