"""The state of the page Long texts: its view, the map's pooling and colours, and what counts as far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from analysis.needle import NEEDLES
from ui.shared.long_example import Shown
from ui.state import session
from ui.state.page_state import change, current, setting
from ui.state.selection import FAR, UrlWindow

N_ = str  # marks a text for Babel without translating it here

MOST = 10**6  # tokens; upper bound of all numbers
OWN = len(NEEDLES)  # index of the typed needle

View = Literal["map", "heads", "curves", "needle"]


@dataclass(frozen=True)
class LongTextsState:
    """``far`` None is an eighth of the text. ``question`` and ``answer`` are those of the needle ``OWN``.

    ``query``, ``key`` and ``window`` are positions in the chapter if that is ``shown``; -1 is its last token. Positions
    in the session's text are in the selection.
    """

    SCOPE: ClassVar[str] = "long_texts"

    shown: Shown = setting("auto", N_("text"))
    query: int | None = setting(-1, N_("query"), min=-FAR, max=FAR)
    key: int | None = setting(None, N_("key"), min=-FAR, max=FAR)
    window: UrlWindow | None = setting(None, N_("window"), min=0, max=FAR)
    view: View = setting("map", N_("view"))
    pooling: Literal["max", "mean"] = setting("max", N_("pooling"))
    color: Literal["log", "linear"] = setting("log", N_("colour scale"))
    measure: Literal["first", "recent", "distance", "entropy"] = setting("first", N_("measure"))
    needle: int | None = setting(None, N_("needle"), min=0, max=OWN)
    question: str = setting("", N_("beginning of the needle"))
    answer: str = setting("", N_("end of the needle"))
    characters: Literal["250", "500", "1000", "2000", "4000"] = setting("250", N_("length of the text"))
    depth: Literal["0", "25", "50", "75", "100"] = setting("50", N_("depth"))
    far: int | None = setting(None, N_("tokens away"), min=1, max=MOST)


def state() -> LongTextsState:
    """The page's current state."""
    return current(LongTextsState)


def open_text(text: str) -> None:
    """Open another text for the open head, which stays the subject here."""
    place = session.selection()
    session.move(layer=place.layer, head=place.head)
    session.set_text(text)
    change(LongTextsState, shown="own")
