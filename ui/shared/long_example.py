"""A long text in place of an example, on pages that have nothing to show of a few tokens."""

from __future__ import annotations

from typing import Literal

from analysis.examples import examples_of
from analysis.long_text import chapter
from model_runner import ModelInfo
from ui.state import session
from ui.wording.i18n import language

Shown = Literal["auto", "half", "whole", "own"]
"""The chapter's first half or all of it, or the session's text; "auto": half in place of an example."""


def part_shown(chosen: Shown) -> Shown:
    """The same with "auto" decided: an example gives way to the chapter, a text that somebody typed does not."""
    if chosen != "auto":
        return chosen
    example = session.text() in [one.text for one in examples_of(session.model(), language())]
    return "half" if example and not session.continuation() else "own"


def takes_chapter(info: ModelInfo) -> bool:
    """Whether a chapter can stand for what the model reads: one text, and no sound."""
    return not (info.hears or info.attentions)


def long_example(part: Shown) -> str | None:
    """This part of the chapter; None for the session's own text."""
    held = chapter(language())
    return {"half": held.half, "whole": held.whole}.get(part)
