"""What the page Generation film holds beside the settings of sampling: its length, forced tokens, how far it went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from jobs.film import Film
from ui.i18n import _
from ui.sampling_settings import SamplingA, values_of
from ui.session import write_address
from ui.state import current, keep, refuse, setting

N_ = str  # marks a text for Babel without translating it here

LONGEST = 500  # tokens


@dataclass(frozen=True)
class FilmState:
    """``forced`` has pairs of a generated token's number, from 0, and its id; ``frame`` None is the newest.

    ``beams`` is the width of the search whose beams are in the tree, 0 where there was none.
    """

    SCOPE: ClassVar[str] = "film"

    length: int = setting(20, N_("number of tokens"), least=1, most=LONGEST)
    one_head: bool = setting(False, N_("one head"))
    forced: tuple[tuple[int, int], ...] = setting((), N_("forced tokens"), least=0, most=10**7)
    steps: int = setting(1, N_("number of generated tokens"), least=0, most=LONGEST)
    frame: int | None = setting(None, N_("frame"), least=0, most=LONGEST)
    beams: Literal["0", "2", "3", "4", "5"] = setting("0", N_("number of beams"))

    @property
    def at(self) -> int:
        """The frame to open at: of a film that was not looked at yet, the prompt."""
        newest = _newest(self.steps)
        return newest if self.frame is None else min(self.frame, self.steps)


def state() -> FilmState:
    """What the page holds now."""
    return current(FilmState)


def forced(n_vocab: int) -> dict[int, int]:
    """Generated token i → its forced id; one that is not there is told, and all are dropped."""
    pairs = state().forced
    wrong = [f"{index}.{token}" for index, token in pairs if index >= LONGEST or token >= n_vocab]
    if wrong:
        words = _("“{value}” is not a number for {what}.")
        refuse(FilmState, "forced", words.format(value="-".join(wrong), what=_("forced tokens")))
        return {}
    return dict(pairs)


def remember(film: Film) -> None:
    """The open way in the address: its settings, its forced tokens, how far it went, and the frame in view."""
    take, steps = film.take, len(film.take.ids)
    keep(SamplingA, **values_of(take.sampling))
    frame = None if film.at == _newest(steps) else film.at
    keep(FilmState, forced=take.forced, steps=steps, frame=frame)
    write_address()


def _newest(steps: int) -> int:
    return steps if steps > 1 else 0  # one token is always ready
