"""The state of the page Next token besides the sampling settings: comparison, samples and a marked token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ui.state.page_state import current, refuse, setting
from ui.wording.i18n import _
from viz.components.sampling_bench.sampling_bench import MOST_DRAWS

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class NextTokenState:
    """``find`` is the marked token's id."""

    SCOPE: ClassVar[str] = "next_token"

    compare: bool = setting(False, N_("compare two settings"))
    draws: int = setting(0, N_("number of draws"), min=0, max=MOST_DRAWS)
    find: int | None = setting(None, N_("number of the marked token"), min=0, max=10**7)


def state(n_vocab: int) -> NextTokenState:
    """The page's current state; a token that is not in the vocabulary is reported and dropped."""
    held = current(NextTokenState)
    if held.find is None or held.find < n_vocab:
        return held
    words = _("The {what} is {value}; it may be at most {most}.")
    refuse(
        NextTokenState, "find", words.format(what=_("number of the marked token"), value=held.find, most=n_vocab - 1)
    )
    return current(NextTokenState)
