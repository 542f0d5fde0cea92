"""The state of the page Generation film besides the sampling settings: its length, forced tokens and progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ui.state.page_state import current, refuse, setting
from ui.state.url_parsing import NO_NUMBER, UrlUnreadable
from ui.wording.sentences import sentence

N_ = str  # marks a text for Babel without translating it here

LONGEST = 500  # tokens
LONGEST_WAYS = 4000  # characters in the URL


@dataclass(frozen=True)
class FilmState:
    """``forced`` has pairs of a generated token's index and its id; ``frame`` None is the newest.

    ``beams`` is the width of the beam search shown in the tree, 0 for none; ``beam``: the forced tokens are one of its
    beams. ``ways`` are the other branches of the tree, in the format of pages/film/ways.py.
    """

    SCOPE: ClassVar[str] = "film"

    length: int = setting(20, N_("number of tokens"), min=1, max=LONGEST)
    one_head: bool = setting(False, N_("one head"))
    forced: tuple[tuple[int, int], ...] = setting((), N_("forced tokens"), min=0, max=10**7)
    steps: int = setting(1, N_("number of generated tokens"), min=0, max=LONGEST)
    frame: int | None = setting(None, N_("frame"), min=0, max=LONGEST)
    beams: Literal["0", "2", "3", "4", "5"] = setting("0", N_("number of beams"))
    beam: bool = setting(False, N_("one of the beams"))
    ways: str = setting("", N_("list of branches"), max_length=LONGEST_WAYS)

    @property
    def at(self) -> int:
        """The frame to open at; for a film that was not opened yet, the prompt."""
        return newest(self.steps) if self.frame is None else min(self.frame, self.steps)


def state() -> FilmState:
    """The page's current state."""
    return current(FilmState)


def forced(n_vocab: int) -> tuple[tuple[int, int], ...]:
    """The open branch's forced tokens by index; if one does not exist, that is reported and all are dropped."""
    pairs = state().forced
    try:
        checked(pairs, n_vocab)
    except UrlUnreadable as error:
        refuse(FilmState, "forced", sentence(error))
        return ()
    return tuple(sorted(dict(pairs).items()))


def checked(pairs: tuple[tuple[int, int], ...], n_vocab: int) -> None:
    """Raises UrlUnreadable if a film cannot have these tokens."""
    wrong = [f"{index}.{token}" for index, token in pairs if index >= LONGEST or token >= n_vocab]
    if wrong:
        raise UrlUnreadable(NO_NUMBER, value="-".join(wrong), what=N_("forced tokens"))


def newest(steps: int) -> int:
    """The frame at which a film of this many tokens opens."""
    return steps if steps > 1 else 0  # one token is always made in advance
