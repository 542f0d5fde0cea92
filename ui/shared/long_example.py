"""A long text that replaces an example, on pages that have nothing to show for a few tokens."""

from __future__ import annotations

from typing import Literal

from analysis.examples import examples_of
from analysis.long_text import chapter
from model_runner import ModelInfo
from ui.state import session
from ui.wording.i18n import language

Shown = Literal["auto", "half", "whole", "own"]
"""The chapter's first half, the whole chapter, or the session's text; "auto" replaces an example by the half."""


def part_shown(chosen: Shown) -> Shown:
    """Resolve "auto": an example is replaced by the chapter, a text that the reader typed is not."""
    if chosen != "auto":
        return chosen
    example = session.text() in [one.text for one in examples_of(session.model(), language())]
    return "half" if example and not session.continuation() else "own"


def takes_chapter(info: ModelInfo) -> bool:
    """Return True if the model can read the chapter: it takes a single text and no sound."""
    return not (info.hears or info.attentions)


def long_example(part: Shown) -> str | None:
    """This part of the chapter, or None for the session's own text."""
    held = chapter(language())
    return {"half": held.half, "whole": held.whole}.get(part)
