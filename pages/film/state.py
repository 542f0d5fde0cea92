"""What the page Generation film holds beside the settings of sampling: its length, forced tokens, how far it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ui.state.page_state import current, refuse, setting
from ui.state.url_parsing import NO_NUMBER, UrlUnreadable
from ui.wording.sentences import sentence

N_ = str  # marks a text for Babel without translating it here

LONGEST = 500  # tokens
LONGEST_WAYS = 4000  # characters of an address


@dataclass(frozen=True)
class FilmState:
    """``forced`` has pairs of a generated token's number, from 0, and its id; ``frame`` None is the newest.

    ``beams`` is the width of the search whose beams are in the tree, 0 where there was none; ``beam`` says that the
    forced tokens are one of them. ``ways`` are the other ways of the tree, as pages/film/ways.py writes them.
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
        """The frame to open at: of a film that was not looked at yet, the prompt."""
        return newest(self.steps) if self.frame is None else min(self.frame, self.steps)


def state() -> FilmState:
    """What the page holds now."""
    return current(FilmState)


def forced(n_vocab: int) -> tuple[tuple[int, int], ...]:
    """The open way's forced tokens, by their number; one that is not there is told, and all are dropped."""
    pairs = state().forced
    try:
        checked(pairs, n_vocab)
    except UrlUnreadable as error:
        refuse(FilmState, "forced", sentence(error))
        return ()
    return tuple(sorted(dict(pairs).items()))


def checked(pairs: tuple[tuple[int, int], ...], n_vocab: int) -> None:
    """Raises UrlUnreadable where a film can have no such token."""
    wrong = [f"{index}.{token}" for index, token in pairs if index >= LONGEST or token >= n_vocab]
    if wrong:
        raise UrlUnreadable(NO_NUMBER, value="-".join(wrong), what=N_("forced tokens"))


def newest(steps: int) -> int:
    """The frame that a film of so many tokens opens at."""
    return steps if steps > 1 else 0  # one token is always ready
