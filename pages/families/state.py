"""The state of the page Families: its view, the open kind, its inputs and its selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from analysis.families import Kind
from analysis.segments import Part
from jobs.families import MODEL_OF
from ui.state.page_state import change, current, setting
from ui.state.selection import FAR, UrlWindow

N_ = str  # marks a text for Babel without translating it here

View = Literal["kinds", "known"]
Open = Literal["own", "causal", "prefix", "encoder", "two"]


@dataclass(frozen=True)
class FamiliesState:
    """``family`` "own" is the open model's kind; ``head`` (layer, head), ``query``, ``key`` and ``window`` are of its
    map.

    ``word`` is the index of the word masked for the encoder; ``part`` says which of two sentences attends to which;
    ``length`` is the prefix's, in tokens.
    """

    SCOPE: ClassVar[str] = "families"

    view: View = setting("kinds", N_("view"))
    family: Open = setting("own", N_("kind of model"))
    head: tuple[int, ...] | None = setting(None, N_("head"), min=0, max=FAR)
    query: int | None = setting(None, N_("query"), min=0, max=FAR)
    key: int | None = setting(None, N_("key"), min=0, max=FAR)
    window: UrlWindow | None = setting(None, N_("window"), min=0, max=FAR)
    word: int | None = setting(None, N_("hidden word"), min=0, max=FAR)
    part: Part = setting("all", N_("part of two sentences"))
    length: int | None = setting(None, N_("prefix length"), min=0, max=FAR)


def state() -> FamiliesState:
    """The page's current state."""
    return current(FamiliesState)


def open_kind(kind: Kind, shown: Kind) -> None:
    """Open another kind; head and positions are reset, unless it uses the same model."""
    if MODEL_OF[kind] == MODEL_OF[shown]:  # with another mask
        change(FamiliesState, family=kind)
    else:
        change(FamiliesState, family=kind, head=None, query=None, key=None, window=None)
